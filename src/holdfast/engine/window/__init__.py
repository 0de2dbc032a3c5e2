"""Windows: preparing a turn from the log to a window that fits."""
