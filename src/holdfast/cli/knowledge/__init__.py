"""Commands about instruction files, skills and notes."""
