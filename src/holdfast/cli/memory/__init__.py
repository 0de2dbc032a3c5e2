"""`holdfast memory`: notes that outlive a session."""
