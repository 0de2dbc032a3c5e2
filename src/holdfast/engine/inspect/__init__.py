"""Inspection: explain, recall, the ledger, and finding entries by name."""
