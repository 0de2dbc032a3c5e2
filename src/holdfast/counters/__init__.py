"""How we count: adapters that know, rather than estimate, how many tokens a text takes."""
