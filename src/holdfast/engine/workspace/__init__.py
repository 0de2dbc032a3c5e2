"""Workspace deeds: what an agent does to files is recorded, shown, and taken back."""
