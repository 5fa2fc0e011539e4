"""The Hugging Face hub: jobs that train, repositories that hold what came of it."""
