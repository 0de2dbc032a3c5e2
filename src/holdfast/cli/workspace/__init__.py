"""Commands about files: what an agent did to them, and taking it back."""
