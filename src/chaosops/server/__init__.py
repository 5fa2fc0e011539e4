"""The OpenEnv server: episodes for trainers, tables for teams of four, tools for agents."""
