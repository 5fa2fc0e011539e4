"""Policies that see the truth. They are upper bounds, not baselines."""
