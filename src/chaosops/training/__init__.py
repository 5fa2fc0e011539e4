"""Training: states, credit, and the runs that learn from them."""
