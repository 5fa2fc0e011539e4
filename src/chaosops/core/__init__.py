"""The vocabulary everything else is written in. Standard library only."""
