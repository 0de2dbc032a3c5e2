"""How we keep: adapters of the store ports."""
