"""Workspace decisions: what a rewind of files does, what stops it, and how changes are shown."""
