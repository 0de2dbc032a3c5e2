"""While nobody says anything: what was cached is kept warm, as the policy says."""

from __future__ import annotations

import threading
from collections.abc import Callable

from holdfast.engine.client import Session
from holdfast.errors import HoldfastError
from holdfast.ports import Provider


class Idle:
    """Waits beside whoever is about to type, and keeps the cache warm until they have.

    `open` makes a provider of its own: the one that talks is left alone.
    """

    def __init__(self, session: Session, open: Callable[[], Provider]) -> None:
        self._session, self._open = session, open
        self._left = threading.Event()

    def __enter__(self) -> Idle:
        threading.Thread(target=self.wait, name="holdfast-idle", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._left.set()

    def wait(self) -> None:
        """Keep it warm for as long as that pays and nobody comes back; what fails ends it."""
        try:
            while (left := self._session.warm_in()) is not None:
                if self._left.wait(left / 1_000) or not self._kept():
                    return
        except (HoldfastError, OSError):
            return
        except Exception:
            if not self._left.is_set():  # else the session may be closed by now
                raise

    def _kept(self) -> bool:
        provider = self._open()
        try:
            return self._session.keep_warm(provider) is not None
        finally:
            provider.close()
