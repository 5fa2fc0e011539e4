"""Who may use the server, and how much: sessions, tables and the page."""
