"""Checks of a summary against the ledger: claims, mentions, objections, retention."""
