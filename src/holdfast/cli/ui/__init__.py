"""What all commands print with: terminal, formats, entries as text."""
