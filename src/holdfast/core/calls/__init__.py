"""Model calls: their price, rate limits, and what a refusal means."""
