"""Tokens: estimates, their calibration, and the formulas for media."""
