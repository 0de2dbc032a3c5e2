"""Compaction: climbing the ladder, writing summaries, shedding, leases."""
