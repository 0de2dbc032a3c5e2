"""Model calls: sending, streaming, recording, asking on the side."""
