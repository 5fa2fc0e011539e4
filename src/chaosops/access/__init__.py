"""Who may use the server, and how much of it: for sessions, tables and the page."""
