"""What travels: views, rules, turns, episodes and recordings as JSON, and back.

Server, client, page and files use the same readers and writers. ``openenv`` needs pydantic, of
the *client* extra; the rest needs no extra.
"""
