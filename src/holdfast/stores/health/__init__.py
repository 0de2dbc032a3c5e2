"""The health of a store: checks, repair, backups, salvage."""
