"""Commands about the store: doctor, salvage, the demo."""
