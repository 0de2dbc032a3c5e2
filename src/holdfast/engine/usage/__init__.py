"""Usage: costs, caps, statistics, status line, telemetry."""
