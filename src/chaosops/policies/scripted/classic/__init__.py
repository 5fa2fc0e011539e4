"""Implementations for the classic pack."""
