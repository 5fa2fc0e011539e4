"""Plays many episodes, computes metrics with intervals, and checks stored results."""
