"""A bakery whose oven goes cold, for ChaosOps."""
