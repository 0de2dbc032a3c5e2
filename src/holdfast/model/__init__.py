"""What things are: frozen values with equality and a little algebra, and nothing that acts."""
