"""The ledger: what a session's log says exactly, rendered for a summary and held against one."""
