"""What should happen: pure functions over the model."""
