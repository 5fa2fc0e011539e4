"""Policies in plain code. They decide from a view and cannot import the world."""
