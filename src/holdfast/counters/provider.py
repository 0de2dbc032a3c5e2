"""Counts by a provider's own endpoint: exact for its models, one round trip each.

Rule 1: only what the endpoint counts is sent: no stream, no sampling, no metadata.
Rule 2: what the endpoint answers is checked; an answer without a number is BadResponse.
Rule 3: with `context_management`, Anthropic counts as if it had edited already, and tells both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final, NamedTuple

from holdfast.codecs.gemini.rest import rest
from holdfast.errors import BadResponse
from holdfast.model import wire
from holdfast.model.window import Count, Tier
from holdfast.ports import Transport

BETA: Final = "context-management-2025-06-27"


class Endpoint(NamedTuple):
    """How one provider is asked."""

    path: str
    fields: tuple[str, ...]
    """What of a request is sent along."""
    answer: str
    """Where in its answer the number is."""


ENDPOINTS: Final = {
    "anthropic": Endpoint(
        "/v1/messages/count_tokens",
        (
            "model", "messages", "system", "tools", "tool_choice", "thinking", "mcp_servers",
            "context_management", "output_config",
        ),
        "input_tokens",
    ),
    "openai-responses": Endpoint(
        "/responses/input_tokens",
        (
            "model", "input", "instructions", "tools", "tool_choice", "reasoning", "text",
            "truncation", "parallel_tool_calls", "conversation", "previous_response_id",
        ),
        "input_tokens",
    ),
    "gemini": Endpoint("/v1beta/models/{model}:countTokens", (), "totalTokens"),
}  # fmt: skip
"""By wire format; Chat Completions has none."""


class ProviderCounter:
    """Asks one provider, over a transport that has its key."""

    blocking: ClassVar[bool] = True

    def __init__(self, transport: Transport, model: str = "", format: str = "") -> None:
        self._transport = transport
        self._model = model
        self._format = format or FORMATS.get(transport.provider, "")
        self.name = transport.provider
        self.tier: Tier = "provider"
        self.unedited: int | None = None
        """What the last request would have taken before the provider's own edits."""

    async def count(self, texts: Sequence[str]) -> list[int]:
        """Each text as the only message of a request: the frame of one message is counted too."""
        found: list[int] = []
        for text in texts:
            told = await self.count_request(_asking(text, self._model, self._format), self._format)
            if told is None:
                raise BadResponse(f"{self.name} has no endpoint that counts", provider=self.name)
            found.append(told.tokens)
        return found

    async def count_request(self, request: dict[str, Any], format: str) -> Count | None:
        """What the endpoint says; None for a format that has none, or that is not this one's."""
        endpoint = ENDPOINTS.get(format)
        if endpoint is None or format != self._format:
            return None
        path, body, headers = _asked(endpoint, request, format)
        answer = await self._transport.post(path, wire.encode(body), headers)
        return Count(tokens=self._number(answer, endpoint), tier=self.tier)

    def close(self) -> None:
        self._transport.close()

    def _number(self, answer: bytes, endpoint: Endpoint) -> int:
        try:
            told = wire.decode(answer, dict[str, Any])
            number = told[endpoint.answer]
        except (ValueError, KeyError, TypeError) as error:
            raise BadResponse(
                f"{self.name} was asked for a count and told none; try again, or count locally",
                provider=self.name,
                raw=answer[:1000],
            ) from error
        if not isinstance(number, int) or isinstance(number, bool) or number < 1:
            raise BadResponse(f"{number!r} is no count", provider=self.name, raw=answer[:1000])
        edited: Any = told.get("context_management")
        before = edited.get("original_input_tokens") if isinstance(edited, dict) else None
        self.unedited = before if isinstance(before, int) else None
        return number


FORMATS: Final = {"anthropic": "anthropic", "openai": "openai-responses", "google": "gemini"}
"""The format in which each provider counts."""


def _asked(
    endpoint: Endpoint, request: Mapping[str, Any], format: str
) -> tuple[str, dict[str, Any], dict[str, str]]:
    """Path, body and headers of a request for a count."""
    if format == "gemini":
        model = str(request["model"]).removeprefix("models/")
        content = {"model": f"models/{model}", **rest(dict(request))}
        return endpoint.path.format(model=model), {"generateContentRequest": content}, {}
    body = {name: request[name] for name in endpoint.fields if name in request}
    beta = format == "anthropic" and "context_management" in body
    return endpoint.path, body, {"anthropic-beta": BETA} if beta else {}


def _asking(text: str, model: str, format: str) -> dict[str, Any]:
    """A request that says one text."""
    if format == "gemini":
        return {"model": model, "contents": [{"role": "user", "parts": [{"text": text}]}]}
    if format == "openai-responses":
        return {"model": model, "input": text}
    return {"model": model, "messages": [{"role": "user", "content": text}]}
