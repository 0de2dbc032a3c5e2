"""Logs: folding markers, legal boundaries, what a marker or message may say."""
