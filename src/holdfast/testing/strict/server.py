"""A real HTTP server on this machine that plays the model providers, and is as strict as they are.

Rule 1: a request that breaks a documented rule is refused with the provider's own words.
Rule 2: what it signed or encrypted it wants back as it was, for the model it was made for.
Rule 3: any other request is answered by a script, whole or as a stream.
"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, cast
from urllib.parse import parse_qs, urlsplit

from holdfast.errors import InvalidRequest
from holdfast.testing.strict.anthropic_face import Anthropic
from holdfast.testing.strict.chat_face import Chat
from holdfast.testing.strict.face import Face, Route
from holdfast.testing.strict.gemini_face import Gemini
from holdfast.testing.strict.limit import too_long
from holdfast.testing.strict.payload import payload
from holdfast.testing.strict.refusal import Case, Refusal, first
from holdfast.testing.strict.responses_face import Responses
from holdfast.testing.strict.script import Answer, Asked, Script, answer, in_order, tokens
from holdfast.testing.strict.vault import Vault

FACES: tuple[Face, ...] = (Anthropic(), Responses(), Chat(), Gemini())
BASES = {"anthropic": "", "openai": "/v1", "gemini": "", "google": ""}


class StrictServer:
    """Plays Anthropic, OpenAI and Gemini on one port, for as long as its `with` block lasts.

    An error that the script raises answers 500, and is raised again when the block ends.
    """

    def __init__(
        self,
        script: Script | Answer | str = "Understood.",
        *,
        foreign: bool = False,
        count: Callable[[dict[str, Any]], int] = tokens,
        window: int = 0,
    ) -> None:
        """`window` is how many tokens every model holds here, by `count`; 0: any number."""
        self._script = script if callable(script) else in_order(script)
        self._foreign = foreign
        self._count = count
        self._window = window
        self._door = _Door(self)
        self._thread = threading.Thread(target=self._door.serve_forever, args=(0.05,), daemon=True)
        self.vault = Vault()
        self.asked: list[Asked] = []
        """Every request that reached a provider's path, in order, refused ones too."""
        self.missed: list[str] = []
        """Every other request, as `GET /path`: nobody plays these here."""
        self.faults: list[Exception] = []
        """What the script raised."""

    @property
    def refused(self) -> list[Asked]:
        """The requests that broke a rule."""
        return [asked for asked in self.asked if asked.rule]

    @property
    def connections(self) -> int:
        """How many connections are open."""
        return self._door.connections

    def url(self, provider: str = "") -> str:
        """What a provider's SDK takes as its base URL; without a name, where the server is."""
        if provider and provider not in BASES:
            raise InvalidRequest(f"no provider {provider!r} here; name one of {', '.join(BASES)}")
        return f"http://127.0.0.1:{self._door.server_port}{BASES.get(provider, '')}"

    def __enter__(self) -> StrictServer:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
        if error is None and self.faults:
            raise self.faults[0]

    def close(self) -> None:
        """Stop answering; connections that are still open are dropped."""
        self._door.closing.set()
        if self._thread.is_alive():
            self._door.shutdown()
            self._thread.join()
        self._door.server_close()

    def judge(self, face: Face, asked: Asked, size: int) -> Refusal | None:
        """The first rule that a request breaks."""
        case = Case(asked=asked, vault=self.vault, size=size, foreign=self._foreign)
        refusal = first(case, face.rules)
        if refusal is None and self._window and asked.endpoint == "create":
            refusal = too_long(asked, self.count(asked), self._window)
        if refusal:
            asked.rule, asked.refusal = refusal.rule, refusal.message
        return refusal

    def play(self, asked: Asked) -> Answer:
        """What the script says to a request."""
        try:
            said = self._script(asked)
        except Exception as fault:
            self.faults.append(fault)
            return Answer(status=500, error=f"the script failed: {fault!r}")
        return answer(said) if isinstance(said, str) else said

    def count(self, asked: Asked) -> int:
        """How many tokens a request has here."""
        return self._count(asked.body)


class _Door(ThreadingHTTPServer):
    """The listening socket, and the connections that are open."""

    daemon_threads = True

    def __init__(self, owner: StrictServer) -> None:
        self.owner = owner
        self.closing = threading.Event()
        self._open: set[socket.socket] = set()
        super().__init__(("127.0.0.1", 0), _Visitor)

    @property
    def connections(self) -> int:
        return len(self._open)

    def process_request(self, request: Any, client_address: Any) -> None:
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def server_close(self) -> None:
        super().server_close()
        for connection in list(self._open):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A visitor who leaves early is no error."""


class _Visitor(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"

    @property
    def _owner(self) -> StrictServer:
        return cast("_Door", self.server).owner

    def log_message(self, format: str, *args: Any) -> None:
        """The server keeps its own record: `StrictServer.asked`."""

    def do_POST(self) -> None:
        raw = payload(self.headers, self.rfile)
        place = urlsplit(self.path)
        query = parse_qs(place.query)
        for face in FACES:
            if route := face.route(place.path, query):
                return self._visit(face, route, query, raw)
        return self._miss()

    def do_GET(self) -> None:
        if (self.headers.get("Upgrade") or "").lower() == "websocket":
            # Answers go over HTTP only. Whoever asks for a socket is told so, and comes again.
            return self._write(426, {"error": {"message": "no WebSocket here: use HTTP"}})
        return self._miss()

    def do_HEAD(self) -> None:
        self._miss()

    def _miss(self) -> None:
        self._owner.missed.append(f"{self.command} {self.path}")
        self._write(404, {"error": {"message": f"nothing at {self.path}"}})

    def _visit(
        self, face: Face, route: Route, query: dict[str, list[str]], raw: bytes | None
    ) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        if refusal := face.keyless(headers, query):
            return self._write(refusal.status, face.error(refusal))
        body = _parsed(raw)
        if not isinstance(body, dict):
            refusal = Refusal(rule="json", message="We could not parse the JSON body.")
            return self._write(400, face.error(refusal))
        read = face.read(body)
        model = route.model or str(read.get("model") or "")
        stream = bool(read.get("stream")) if route.stream is None else route.stream
        asked = Asked(
            format=face.format,
            endpoint=route.endpoint,
            model=model,
            stream=stream,
            body=read,
            headers=headers,
        )
        self._owner.asked.append(asked)
        return self._answer(face, route, asked, len(raw or b""))

    def _answer(self, face: Face, route: Route, asked: Asked, size: int) -> None:
        if refusal := self._owner.judge(face, asked, size):
            return self._write(refusal.status, face.error(refusal))
        if route.endpoint == "count":
            return self._write(200, face.counted(self._owner.count(asked)))
        told = asked.told = self._owner.play(asked)
        cast("_Door", self.server).closing.wait(told.delay)
        if told.status != 200:
            refusal = Refusal(rule="", status=told.status, message=told.error or "failed")
            return self._write(told.status, face.error(refusal), told)
        if not asked.stream:
            return self._write(200, face.whole(asked, told, self._owner.vault), told)
        events = face.stream(asked, told, self._owner.vault)
        return self._stream(_array(events) if route.array else events, told, array=route.array)

    def _write(self, status: int, body: dict[str, Any], told: Answer | None = None) -> None:
        data = json.dumps(body, ensure_ascii=False, indent=2).encode()
        self._head(status, "application/json", told)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        cut = told.cut if told else None
        if self.command != "HEAD":
            self.wfile.write(data if cut is None else data[:cut])
        if cut is not None and cut < len(data):
            self._drop()

    def _stream(self, parts: Iterator[bytes], told: Answer, *, array: bool) -> None:
        self._head(200, "application/json" if array else "text/event-stream", told)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        left = told.cut
        for part in parts:
            sent = part if left is None else part[:left]
            if sent:
                self.wfile.write(b"%x\r\n%b\r\n" % (len(sent), sent))
                self.wfile.flush()
            if left is not None and (left := left - len(sent)) <= 0:
                return self._drop()
            cast("_Door", self.server).closing.wait(told.pace)
        self.wfile.write(b"0\r\n\r\n")
        return None

    def _head(self, status: int, kind: str, told: Answer | None) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        for name in ("request-id", "x-request-id"):
            self.send_header(name, f"req_{len(self._owner.asked):08d}")
        for name, value in (told.headers if told else {}).items():
            self.send_header(name, value)

    def _drop(self) -> None:
        """Hang up in the middle of it."""
        self.close_connection = True
        self.wfile.flush()
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)


def _parsed(raw: bytes | None) -> Any:
    try:
        return None if raw is None else json.loads(raw)
    except (ValueError, RecursionError):
        return None


def _array(events: Iterator[bytes]) -> Iterator[bytes]:
    """The same chunks as one JSON array."""
    opening = b"["
    for data in events:
        yield opening + data.removeprefix(b"data: ").strip()
        opening = b",\r\n"
    yield b"]"
