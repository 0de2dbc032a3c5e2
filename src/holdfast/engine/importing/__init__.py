"""Importing transcripts: discovery, matching with what is stored, committing."""
