"""The engine: what a world is and how one step changes it."""
