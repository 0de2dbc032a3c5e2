"""A proxy on this machine that passes everything on, and breaks one answer at one byte."""

from __future__ import annotations

import select
import socket
import struct
import threading
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Literal
from urllib.parse import urlsplit

Kind = Literal["cut", "reset", "stall", "split", "garble", "leave"]
"""`leave` is nothing that happens on the way: whoever asked goes away in the middle."""


@dataclass(frozen=True)
class Break:
    """What happens to the first answer that passes, and at which of its bytes."""

    kind: Kind
    at: int


class Link:
    """One connection through the proxy."""

    def __init__(self, near: socket.socket, far: socket.socket, fault: Break | None) -> None:
        self.fault = fault
        self.answer = bytearray()
        """What was let through to whoever asked."""
        self.left = threading.Event()
        """Set once whoever asked has hung up."""
        self.over = threading.Event()
        """Set once the far side has been let go too."""
        self._near, self._far = near, far
        self._reset = threading.Event()

    def start(self) -> None:
        threading.Thread(target=self._ask, daemon=True).start()
        threading.Thread(target=self._tell, daemon=True).start()

    def close(self) -> None:
        for end in (self._near, self._far):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def _ask(self) -> None:
        """What is asked is passed on until whoever asks hangs up; then so do we."""
        with suppress(OSError, ValueError):  # closed meanwhile
            while data := self._asked():
                self._far.sendall(data)
        if self._reset.is_set():  # nobody else may be at it then, or no reset is sent
            self._near.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self._near.close()
        self.left.set()
        with suppress(OSError):
            self._far.shutdown(socket.SHUT_RDWR)
        self.over.set()

    def _asked(self) -> bytes:
        """What is asked next; empty once nothing more will be."""
        while not self._reset.is_set():
            if select.select([self._near], [], [], 0.01)[0]:
                return self._near.recv(65_536)
        return b""

    def _tell(self) -> None:
        with suppress(OSError):
            while data := self._far.recv(65_536):
                if not self._let_through(data):
                    return
            self._near.shutdown(socket.SHUT_WR)

    def _let_through(self, data: bytes) -> bool:
        """Pass a piece on; False where the answer ends here for whoever asked."""
        fault, passed = self.fault, len(self.answer)
        if fault is None or fault.kind == "leave":
            return self._give(data)
        if passed + len(data) <= fault.at or passed > fault.at:
            return self._give(data)
        head, rest = data[: fault.at - passed], data[fault.at - passed :]
        match fault.kind:
            case "split":
                pieces = [head, *(rest[n : n + 1] for n in range(8)), rest[8:]]
                return all(self._give(piece) for piece in pieces)
            case "garble":
                return self._give(head + bytes([rest[0] ^ 0x15]) + rest[1:])
            case "stall":
                return self._give(head) and self.left.wait(30) and False
            case "reset":
                self._give(head)
                self._reset.set()
                return False
            case _:
                self._give(head)
                self._far.shutdown(socket.SHUT_RDWR)
                self._near.shutdown(socket.SHUT_WR)
                return False

    def _give(self, data: bytes) -> bool:
        self.answer += data
        if data:
            self._near.sendall(data)
        return True


class Proxy:
    """Passes connections on to a server; the first since it was armed breaks as told."""

    def __init__(self, url: str) -> None:
        place = urlsplit(url)
        self._to = (str(place.hostname), int(place.port or 80))
        self._fault: Break | None = None
        self._door = socket.create_server(("127.0.0.1", 0))
        self.links: list[Link] = []
        threading.Thread(target=self._listen, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._door.getsockname()[1]}"

    def arm(self, fault: Break | None) -> None:
        """Hang up whatever is open, and have the next connection break."""
        for link in self.links:
            link.close()
        self.links, self._fault = [], fault

    def __enter__(self) -> Proxy:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._door.close()
        for link in self.links:
            link.close()

    def _listen(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._door.accept()
                near.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                far = socket.create_connection(self._to)
                far.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                fault = None if self.links else self._fault
                self.links.append(Link(near, far, fault))
                self.links[-1].start()
