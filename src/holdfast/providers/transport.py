"""HTTP to one provider: its key goes to its host only, nothing is followed, everything ends.

Rule 1: the key is a header, set for one origin; a redirect is an answer we do not want, not a path.
Rule 2: nothing waits for ever, and no answer is larger than we can use.
Rule 3: what goes wrong is told once, here, as a ProviderError; nobody above has heard of httpx2.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from email.utils import parsedate_to_datetime
from math import isfinite
from threading import Lock
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple

from holdfast.core.calls.rate_limits import limits_in
from holdfast.core.calls.refusals import limit_in
from holdfast.core.secrets import MARK, SHORTEST, redact
from holdfast.errors import (
    AuthError,
    BadResponse,
    InvalidRequest,
    Overflow,
    ProviderError,
    ProviderRejected,
    Throttled,
    Unreachable,
)
from holdfast.model import wire
from holdfast.model.rate_limits import Limits
from holdfast.providers.base_url import base, host_of, is_private, query_of, shown

if TYPE_CHECKING:
    from httpx2 import Client, Response

SECONDS = 20.0
LARGEST = 4 * 1024 * 1024
"""An answer to a question about tokens is small."""


class Service(NamedTuple):
    """Where a provider is, and how it knows us."""

    url: str
    """Its base, in the sense of the provider's own SDK: OpenAI's has the version in it."""
    keys: tuple[str, ...]
    """Variables that may hold the key."""
    base: str
    """The variable that may name another address, as the provider's own SDK has it."""
    header: str
    prefix: str = ""
    fixed: tuple[tuple[str, str], ...] = ()


SERVICES: Final = {
    "anthropic": Service(
        "https://api.anthropic.com",
        ("ANTHROPIC_API_KEY",),
        "ANTHROPIC_BASE_URL",
        "x-api-key",
        fixed=(("anthropic-version", "2023-06-01"),),
    ),
    "openai": Service(
        "https://api.openai.com/v1",
        ("OPENAI_API_KEY",),
        "OPENAI_BASE_URL",
        "authorization",
        "Bearer ",
    ),
    "google": Service(
        "https://generativelanguage.googleapis.com",
        ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
        "GOOGLE_GEMINI_BASE_URL",
        "x-goog-api-key",
    ),
}


class HttpTransport:
    """A connection to one provider."""

    blocking: ClassVar[bool] = True

    def __init__(
        self,
        provider: str,
        *,
        key: str = "",
        url: str = "",
        seconds: float = SECONDS,
        plain: Collection[str] = (),
    ) -> None:
        """`plain` are hosts that the user lets a key go to without TLS."""
        if provider not in SERVICES:
            raise InvalidRequest(
                f"no endpoint of {provider!r} is known here; use {', '.join(SERVICES)}"
            )
        service = SERVICES[provider]
        self.provider = provider
        self._service = service
        self._key = _sound(service, key.strip() or key_of(provider))
        told = url or os.environ.get(service.base) or service.url
        self._url, self._query = base(told, key=bool(self._key), plain=plain), query_of(told)
        self._keys = tuple(filter(None, {self._key, *map(key_of, SERVICES)}))
        self._seconds = seconds
        self._opening = Lock()
        self._client: Client | None = None
        self.limits: Limits | None = None
        """What the newest answer that spoke of limits said is left of them."""

    async def post(self, path: str, body: bytes, headers: Mapping[str, str]) -> bytes:
        """Send it, and take the answer; a ProviderError says what to do where that fails."""
        return self._answer("POST", path, body, headers)

    async def fetch(self, path: str) -> bytes:
        """What is at a path; a ProviderError says what to do where that fails."""
        return self._answer("GET", path, b"", {})

    def _answer(self, method: str, path: str, body: bytes, headers: Mapping[str, str]) -> bytes:
        client = self._ready()
        with self._mapped():
            answer = self._send(client, method, path, body, headers)
        if answer[0] == 200:
            return answer[1]
        raise self._failure(path, *answer)

    def _ready(self) -> Client:
        """The connection, with a key; only a server that is like OpenAI's may want none."""
        theirs = host_of(self._url) == host_of(self._service.url)
        if not self._key and (theirs or self.provider != "openai"):
            raise AuthError(
                f"no key for {self.provider}; set {self._service.keys[0]}", provider=self.provider
            )
        return self._opened()

    async def stream(self, path: str, body: bytes, headers: Mapping[str, str]) -> HttpFlow:
        """Send it, and take the answer piece by piece."""
        client = self._ready()
        with self._mapped():
            sent = client.build_request(
                "POST", self._at(path), content=body, headers=self._told(headers)
            )
            answer = client.send(sent, stream=True)
            self._note(answer.headers)
            if answer.status_code != 200:
                try:
                    said = self._read(answer)
                finally:
                    answer.close()
                raise self._failure(path, answer.status_code, said, answer.headers)
        return HttpFlow(self.provider, answer, self._seconds, self._keys, self._url)

    def _mapped(self) -> AbstractContextManager[None]:
        return _mapped(self.provider, self._seconds, self._url, self._keys)

    def _at(self, path: str) -> str:
        """Where a path is asked for; a query of the base goes along with each."""
        more = f"{'&' if '?' in path else '?'}{self._query}" if self._query else ""
        return f"{self._url}{path}{more}"

    def _failure(
        self, path: str, status: int, body: bytes, headers: Mapping[str, str]
    ) -> ProviderError:
        """What an answer that is none means."""
        elsewhere = status in (404, 405) and self._url != self._service.url
        where = self._asked_at(path) if elsewhere else ""
        return failure(self.provider, status, body, headers, where)

    def _asked_at(self, path: str) -> str:
        """Where something was looked for at another address than the provider's own."""
        how = "with its version, as http://host/v1" if self.provider == "openai" else "without /v1"
        told = f"{self._service.base} is used as it is given, so name it {how}"
        return f" (asked at {shown(self._url + path)}: {told})"

    def _told(self, headers: Mapping[str, str]) -> dict[str, str]:
        known = {self._service.header: f"{self._service.prefix}{self._key}"} if self._key else {}
        return {
            **headers,
            **dict(self._service.fixed),
            "content-type": "application/json",
            **known,
        }

    def _send(
        self, client: Client, method: str, path: str, body: bytes, headers: Mapping[str, str]
    ) -> tuple[int, bytes, Mapping[str, str]]:
        told = self._told(headers)
        with client.stream(method, self._at(path), content=body, headers=told) as answer:
            self._note(answer.headers)
            return answer.status_code, self._read(answer), answer.headers

    def _note(self, headers: Mapping[str, str]) -> None:
        now = time.time_ns() // 1_000_000
        self.limits = limits_in(headers, self.provider, now) or self.limits

    def _read(self, answer: Response) -> bytes:
        read = bytearray()
        for chunk in answer.iter_bytes():
            read += chunk
            if len(read) > LARGEST:
                raise BadResponse(f"{self.provider} answers without end", provider=self.provider)
        return _Mask(self._keys).over(bytes(read))

    def _opened(self) -> Client:
        """The one connection, though subtasks ask for it at the same time."""
        with self._opening:
            self._client = self._client or self._made()
            return self._client

    def _made(self) -> Client:
        try:
            from httpx2 import Client
        except ImportError as absent:
            raise InvalidRequest(
                "asking a provider needs httpx2; pip install 'holdfast[providers]'"
            ) from absent
        # A proxy of the environment is for the world outside; to it the key would be plain.
        trusted = not is_private(self._url)
        return Client(follow_redirects=False, timeout=self._seconds, trust_env=trusted)

    def close(self) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None


MOST: Final = 64 * 1024 * 1024
"""No streamed answer has more bytes."""
LONGEST: Final = 3_600.0
"""No streamed answer takes more seconds, however often it says that it is still there."""


class HttpFlow:
    """A streamed answer."""

    def __init__(
        self,
        provider: str,
        answer: Response,
        seconds: float,
        keys: tuple[str, ...] = (),
        url: str = "",
    ) -> None:
        self._provider, self._answer, self._seconds, self._url = provider, answer, seconds, url
        self._pieces = answer.iter_bytes()
        self._keys, self._mask = keys, _Mask(keys)
        self._taken, self._end = 0, time.monotonic() + LONGEST
        self.headers: Mapping[str, str] = answer.headers

    async def read(self) -> bytes:
        """The next piece; empty at its end."""
        with _mapped(self._provider, self._seconds, self._url, self._keys):
            while piece := next(self._pieces, b""):
                self._bound(len(piece))
                if clean := self._mask.over(piece, more=True):
                    return clean
        return self._mask.over(b"")

    def _bound(self, size: int) -> None:
        self._taken += size
        if self._taken > MOST or time.monotonic() > self._end:
            raise BadResponse(
                f"{self._provider}: an answer without an end was left after "
                f"{self._taken:,} bytes; try again",
                provider=self._provider,
            )

    async def close(self) -> None:
        """Let it go, finished or not."""
        self._answer.close()


class _Mask:
    """Takes our keys out of what is answered: who reflects what was asked must not spread it."""

    def __init__(self, keys: tuple[str, ...]) -> None:
        self._keys = [
            key.encode("utf-8", "surrogateescape") for key in keys if len(key) >= SHORTEST
        ]
        self._held = b""

    def over(self, piece: bytes, *, more: bool = False) -> bytes:
        """A piece without the keys; where there is more, what may be a beginning of one waits."""
        clean = self._held + piece
        for key in self._keys:
            clean = clean.replace(key, MARK.encode())
        kept = max((_begun(clean, key) for key in self._keys), default=0) if more else 0
        self._held = clean[len(clean) - kept :] if kept else b""
        return clean[: len(clean) - kept]


def _begun(text: bytes, key: bytes) -> int:
    """How many bytes at the end of a text are the beginning of a key."""
    sizes = range(min(len(key) - 1, len(text)), 0, -1)
    return next((n for n in sizes if text.endswith(key[:n])), 0)


@contextmanager
def _mapped(provider: str, seconds: float, url: str, keys: Sequence[str]) -> Iterator[None]:
    """What the network does, said once as what to do about it."""
    import httpx2

    where = f"{provider} at {shown(url)}" if url else provider
    try:
        yield
    except httpx2.TimeoutException as late:
        raise Unreachable(
            f"{where} did not answer within {seconds:g} s; try again", provider=provider
        ) from late
    except httpx2.LocalProtocolError:  # its words quote the header that it refuses
        raise Unreachable(
            f"{where} was not asked: HTTP does not allow what a header says; check the key",
            provider=provider,
        ) from None
    except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError) as failed:
        do = "see that it runs" if is_private(url) else "check the network"
        raise Unreachable(
            f"{where} cannot be reached: {redact(str(failed), keys)}; {do}, then try again",
            provider=provider,
        ) from failed


def key_of(provider: str) -> str:
    """The key that the environment holds for a provider; empty where it holds none."""
    told = (os.environ.get(name, "").strip() for name in SERVICES[provider].keys)
    return next(filter(None, told), "")


def _sound(service: Service, key: str) -> str:
    """A key, if a header can hold it; what it is, is not told."""
    if key.isascii() and key.isprintable():
        return key
    raise InvalidRequest(
        f"the key in {service.keys[0]} has characters that no key has (control characters, or "
        "others than ASCII); set it afresh"
    )


def failure(
    provider: str, status: int, body: bytes, headers: Mapping[str, str], where: str = ""
) -> ProviderError:
    """What an answer that is none means, and what to do about it."""
    words = _words(body)
    told: dict[str, Any] = {
        "provider": provider,
        "status": status,
        "request": headers.get("request-id") or headers.get("x-request-id") or "",
    }
    said = f"{provider} says {status}: {words}"
    if status in (401, 403):
        return AuthError(f"{said}; check the key", **told)
    after = _seconds(headers)
    if status == 429 or (status >= 500 and after is not None):
        return Throttled(f"{said}; wait, then try again", after=after, **told)
    if status >= 500 or status == 408:
        return Unreachable(f"{said}; try again", **told)
    if status == 413 or (400 <= status < 500 and _too_long(words)):
        return Overflow(f"{said}; compact, then send", limit=limit_in(words), **told)
    if 400 <= status < 500:
        return ProviderRejected(f"{said}{where}; it will not accept this", **told)
    return BadResponse(f"{said}; no answer to what was asked", raw=body[:1000], **told)


def _too_long(words: str) -> bool:
    small = words.lower()
    marks = ("too long", "context length", "context_length", "context window", "context size",
             "maximum number of tokens", "exceed_context_size", "context limit")  # fmt: skip
    return any(mark in small for mark in marks)


def _words(body: bytes) -> str:
    """What a provider says went wrong, without the JSON around it."""
    try:
        told: Any = wire.decode(body, dict[str, Any])
    except ValueError:
        return body[:300].decode("utf-8", "replace")
    error = told.get("error", told)
    words = error.get("message", error) if isinstance(error, dict) else error
    return str(words)[:2_000]


def _seconds(headers: Mapping[str, str]) -> float | None:
    """How long to wait, told in seconds or as a date."""
    told = headers.get("retry-after", "")
    try:
        seconds = float(told)
        return max(seconds, 0.0) if isfinite(seconds) else None
    except ValueError:
        pass
    try:
        return max(parsedate_to_datetime(told).timestamp() - time.time(), 0.0)
    except (ValueError, TypeError):
        return None
