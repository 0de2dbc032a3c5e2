"""Constraints and corrections recognised in what a user says, by rules."""
