"""Exporting and handing sessions over, with a statement of fidelity."""
