"""Playing many episodes and saying honestly what came of it."""
