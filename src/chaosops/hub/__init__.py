"""The Hugging Face hub: jobs that train, and repositories for their results."""
