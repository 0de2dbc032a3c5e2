"""Whoever counts for the providers an agent talks to: their own endpoints, asked where it matters.

An endpoint is asked only where an estimate leaves open whether a window fits. One that fails is
left alone for a while; the estimate holds until then, and that is said once.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Final

from holdfast.agent.model_choice import KEYS, compatible
from holdfast.engine.plugins import endpoint
from holdfast.errors import HoldfastError, InvalidRequest
from holdfast.model.window import Count, Tier
from holdfast.ports import Counter

PROVIDERS: Final = {"anthropic": "anthropic", "openai-responses": "openai", "gemini": "google"}
"""Whose endpoint counts requests of a format."""

SECONDS: Final = 10.0
"""How long a count may take; a turn does not wait longer for it."""

RESTS: Final = 15 * 60.0
"""An endpoint that failed is not asked again for so many seconds."""


class Endpoints:
    """The endpoints of all providers that a key is there for, opened when they are first asked."""

    blocking: ClassVar[bool] = True
    name: str = "endpoints"
    tier: Tier = "provider"

    def __init__(
        self, environ: Mapping[str, str] | None = None, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._environ = os.environ if environ is None else environ
        self._now = now
        self._open: dict[str, Counter] = {}
        self._failed: dict[str, float] = {}
        self.tell: Callable[[str], None] = lambda words: None
        """Told once of each endpoint that cannot count."""

    def serves(self, provider: str) -> bool:
        """Whether a provider's endpoint can be asked now."""
        keyed = any(self._environ.get(key, "").strip() for key in KEYS.get(provider, ()))
        if not keyed or (provider == "openai" and compatible(self._environ)):
            return False
        failed = self._failed.get(provider)
        return failed is None or self._now() - failed > RESTS

    async def count_request(self, request: dict[str, Any], format: str) -> Count | None:
        """What the provider says a request takes; None where it cannot be asked."""
        provider = PROVIDERS.get(format, "")
        if not self.serves(provider):
            return None
        if provider not in self._open:
            self._open[provider] = endpoint(provider, seconds=SECONDS)
        try:
            return await self._open[provider].count_request(request, format)
        except HoldfastError as error:
            known = provider in self._failed
            self._failed[provider] = self._now()
            if not known:
                why = str(error).partition("\n")[0][:160]
                self.tell(f"{provider} did not count ({why}); estimates are used meanwhile")
            return None

    async def count(self, texts: Sequence[str]) -> list[int]:
        """Texts alone are of no provider, so nobody can be asked."""
        raise InvalidRequest("which provider is to count? these endpoints count whole requests")

    def close(self) -> None:
        """Let go of the connections."""
        for one in self._open.values():
            one.close()
        self._open = {}
