"""A small real agent on top of the engine: a loop, tools, permissions."""
