"""The control plane: every change by anybody goes through it, and is signed and chained."""
