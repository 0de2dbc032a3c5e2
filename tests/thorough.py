"""Short and long forms: `make test` does a share of what some tests can do, `make thorough` all."""

import os

THOROUGH = bool(os.environ.get("HOLDFAST_TEST_THOROUGH"))


def share(count: int, of: int = 3) -> int:
    """How many of `count` to try: one in `of`, or all."""
    return count if THOROUGH else max(count // of, 1)


def step(every: int) -> int:
    """How far to go at once: `every`, or one by one."""
    return 1 if THOROUGH else every
