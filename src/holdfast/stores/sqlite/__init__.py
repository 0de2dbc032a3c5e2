"""The store on SQLite: connection, transactions, schema and migrations."""
