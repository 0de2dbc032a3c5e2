"""Commands that import, export and hand over transcripts."""
