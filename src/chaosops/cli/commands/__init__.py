"""One file for each command, named after it: its options, and what it does."""
