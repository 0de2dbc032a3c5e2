"""Compaction: the ladder and the planner of each of its steps."""
