"""What a repository holds: its definitions and references, read by tree-sitter, told as a map."""
