"""The types that all other packages use. Standard library only."""
