"""Policies: they get views and answer with decisions."""
