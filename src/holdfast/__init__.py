"""Holdfast: the context engine for LLM agents."""
