"""The terminal: frames drawn with Rich, and a human policy. It never runs episodes."""
