"""Workspace adapter: a directory whose files are scanned, kept as they were, and put back."""
