"""Windows: assembling, budgeting, truncating and repairing what is sent, and explaining it."""
