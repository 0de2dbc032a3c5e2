"""One provider to talk to: where a request of its format goes, and what goes along with it.

Rule 1: a request is sent as it was made; only what is the client's own matter is taken out.
Rule 2: an OpenAI-compatible endpoint is OpenAI at another address; it may want no key.
Rule 3: paths are those that the provider's own SDK lays behind its base URL.
"""

from __future__ import annotations

from typing import Any, ClassVar, Final, NamedTuple

from holdfast.codecs.gemini.rest import path as gemini_path
from holdfast.codecs.gemini.rest import rest
from holdfast.errors import InvalidRequest
from holdfast.model import wire
from holdfast.model.rate_limits import Limits
from holdfast.ports import ResponseStream, Transport

SECONDS: Final = 600.0
"""How long a reply may keep silent."""


class Posted(NamedTuple):
    """A request as it is posted."""

    path: str
    body: dict[str, Any]
    headers: dict[str, str]


def posted(request: dict[str, Any], format: str) -> Posted:
    """Where a request goes, and with what."""
    if format == "anthropic":
        body = {name: value for name, value in request.items() if name != "betas"}
        betas = ",".join(map(str, request.get("betas") or ()))
        return Posted(
            "/v1/messages", body | {"stream": True}, {"anthropic-beta": betas} if betas else {}
        )
    if format == "gemini":
        return Posted(f"/v1beta/{gemini_path(request, stream=True)}", rest(request), {})
    if format == "openai-responses":
        return Posted("/responses", request | _named(request) | {"stream": True}, {})
    if format == "openai-chat":
        told = {"stream": True, "stream_options": {"include_usage": True}}
        return Posted("/chat/completions", request | _named(request) | told, {})
    raise InvalidRequest(f"nobody here is spoken to in {format!r}")


def _named(request: dict[str, Any]) -> dict[str, str]:
    """A model as OpenRouter itself calls it; `openrouter/auto` is a name of its own."""
    bare = str(request["model"]).removeprefix("openrouter/")
    return {"model": bare} if "/" in bare else {}


class HttpProvider:
    """A provider over HTTP."""

    blocking: ClassVar[bool] = True

    def __init__(self, transport: Transport, format: str) -> None:
        self._transport = transport
        self.name, self.format = transport.provider, format

    @property
    def limits(self) -> Limits | None:
        """What is left of its limits, as its newest answer says."""
        return self._transport.limits

    async def begin(self, request: dict[str, Any]) -> ResponseStream:
        """Send a request that streams."""
        to = posted(request, self.format)
        return await self._transport.stream(to.path, wire.encode(to.body), to.headers)

    def close(self) -> None:
        self._transport.close()
