"""`holdfast chat` and `holdfast run`."""
