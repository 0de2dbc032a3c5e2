"""The search index: words, tags and vectors over SQLite's FTS5."""
