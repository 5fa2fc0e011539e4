"""What a role sees, what it is told, and how its reply is read."""
