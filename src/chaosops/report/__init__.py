"""Results for people: tables, transcripts, figures."""
