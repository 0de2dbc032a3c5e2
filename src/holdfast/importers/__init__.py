"""How we learn: one importer for each program whose transcripts we read."""
