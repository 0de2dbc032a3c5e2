"""Permissions: rules, how they match a command line, remembering an approval."""
