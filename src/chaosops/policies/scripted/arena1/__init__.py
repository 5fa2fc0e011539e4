"""Implementations for the arena pack."""
