"""Who speaks with models: wire formats, providers, and what counts tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Protocol

from holdfast.model.profile import Profile
from holdfast.model.rate_limits import Limits
from holdfast.model.reply import Delta, Reply
from holdfast.model.window import Count, Options, Tier, Violation, Window


class Counter(Protocol):
    """One way to know how many tokens something takes."""

    blocking: ClassVar[bool]

    @property
    def name(self) -> str:
        """What its counts are kept under: a vocabulary, or a provider."""
        ...

    @property
    def tier(self) -> Tier: ...

    async def count(self, texts: Sequence[str]) -> list[int]:
        """How many tokens each text takes by itself."""
        ...

    async def count_request(self, request: dict[str, Any], format: str) -> Count | None:
        """How many a whole request takes; None where this counter cannot tell."""
        ...

    def close(self) -> None: ...


class ResponseStream(Protocol):
    """An answer as it comes."""

    async def read(self) -> bytes:
        """The next piece; empty at its end."""
        ...

    async def close(self) -> None:
        """Let it go, finished or not: the other side is told that nobody listens any more."""
        ...


class Provider(Protocol):
    """One provider's models, in one wire format, over a transport that has its key."""

    blocking: ClassVar[bool]

    @property
    def name(self) -> str: ...
    @property
    def limits(self) -> Limits | None: ...  # as its newest answer says; None where none does
    @property
    def format(self) -> str:
        """The wire format its requests are written in."""
        ...

    async def begin(self, request: dict[str, Any]) -> ResponseStream:
        """Send a request that streams; whatever fails is a ProviderError that says what to do."""
        ...

    def close(self) -> None: ...


class Transport(Protocol):
    """Sends requests to one provider, with its key, and to nobody else."""

    blocking: ClassVar[bool]

    @property
    def provider(self) -> str: ...
    @property
    def limits(self) -> Limits | None: ...

    async def post(self, path: str, body: bytes, headers: Mapping[str, str]) -> bytes:
        """The body of the answer; whatever fails is a ProviderError that says what to do."""
        ...

    async def stream(self, path: str, body: bytes, headers: Mapping[str, str]) -> ResponseStream:
        """The same, piece by piece; an answer that is none fails here, before the first piece."""
        ...

    def close(self) -> None: ...


class Decoder(Protocol):
    """Reads one streamed reply, however its bytes are split."""

    def feed(self, data: bytes) -> list[Delta]:
        """The pieces that these bytes complete."""
        ...

    def close(self) -> Reply:
        """The whole reply; `stop` is `aborted` where the stream ended too early."""
        ...


class Codec(Protocol):
    """One wire format: window to request, bytes to reply. It never acts."""

    name: str
    """The format, such as openai-responses."""
    provider: str
    """Whose seals it echoes."""

    def encode(self, window: Window, profile: Profile, options: Options) -> dict[str, Any]:
        """The request, as the provider's own SDK takes it."""
        ...

    def decode(self, body: bytes) -> Reply:
        """The reply that a whole response body is."""
        ...

    def decoder(self) -> Decoder:
        """What reads a streamed reply."""
        ...

    def violations(self, request: dict[str, Any], profile: Profile) -> list[Violation]:
        """Every documented rule that a request breaks."""
        ...
