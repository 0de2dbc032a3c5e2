"""How it is written: one wire format a file, each with its rules; pure."""
