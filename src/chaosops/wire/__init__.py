"""What travels: views, rules, turns, episodes and recordings as JSON, and back.

Server, client, page and files use the same readers and writers. ``openenv`` and ``openenv_core``
need the *server* extra; the rest needs the standard library.
"""
