"""Which models a server that is like OpenAI's has: what it says of itself at `/models`."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any, Final

from holdfast.errors import BadResponse
from holdfast.providers.transport import HttpTransport

SECONDS: Final = 10.0
"""So long may a server take to say what it has."""


async def served(
    url: str, key: str = "", plain: Collection[str] = (), seconds: float = SECONDS
) -> tuple[str, ...]:
    """The names of its models in its own order; a ProviderError where it does not say them."""
    transport = HttpTransport("openai", key=key, url=url, seconds=seconds, plain=plain)
    try:
        said: Any = json.loads(await transport.fetch("/models"))
        return tuple(str(one["id"]) for one in said["data"])
    except (ValueError, KeyError, TypeError) as wrong:
        raise BadResponse("its answer is no list of models", provider="openai") from wrong
    finally:
        transport.close()
