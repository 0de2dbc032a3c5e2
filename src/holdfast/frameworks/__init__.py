"""Holdfast as the memory of agents that other frameworks run; each adapter needs its framework."""
