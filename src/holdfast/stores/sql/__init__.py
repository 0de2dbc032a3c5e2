"""The store ports over SQL, written once; a dialect supplies the connection."""
