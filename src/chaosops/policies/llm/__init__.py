"""Language models as policies: weights on this machine, or an endpoint."""
