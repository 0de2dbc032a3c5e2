"""Commands about the window: context, compact, undo, pins, policies."""
