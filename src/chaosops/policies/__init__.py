"""Who plays: a policy sees views and answers with decisions."""
