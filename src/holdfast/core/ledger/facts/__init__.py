"""Facts of the ledger: what tool calls did to files, commands, todos."""
