"""How we speak: what is known of models, and how they are reached."""
