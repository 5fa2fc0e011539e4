"""Policies. They get views and return decisions."""
