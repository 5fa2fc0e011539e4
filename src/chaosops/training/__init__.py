"""Training: turns with their counterfactual returns, and the runs that learn from them."""
