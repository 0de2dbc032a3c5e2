"""Knowledge: instruction files, skills and notes read safely, and what is trusted."""
