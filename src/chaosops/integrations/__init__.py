"""ChaosOps in other frameworks. Each file is for one of them, behind an extra of its own."""
