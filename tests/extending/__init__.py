"""What it takes to add something: a test adds one to a copy of the sources, counts files."""
