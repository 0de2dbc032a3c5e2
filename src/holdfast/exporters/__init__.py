"""What leaves the store in another form: pure functions from what is stored to bytes."""
