"""How it is written: one wire format a package, each with its rules; pure."""
