"""Where the published command finds the terminal dashboard."""
