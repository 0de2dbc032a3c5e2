"""Commands about usage: cost, stats, count, models, map."""
