"""Doing: one engine, written once, behind two doors."""
