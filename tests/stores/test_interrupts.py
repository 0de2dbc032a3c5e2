"""An interrupt may strike anywhere inside the store: what it leaves behind hinders nobody."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import holdfast
from holdfast.engine.blocking import Session
from holdfast.model.message import Text
from holdfast.stores.sqlite import store

STORES = str(Path(store.__file__).parent)


class Striking:
    """Raises KeyboardInterrupt at the nth call of a function of the stores."""

    def __init__(self, nth: int) -> None:
        self.left = nth

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(STORES):
            self.left -= 1
            if self.left == 0:
                sys.settrace(None)
                raise KeyboardInterrupt


def struck(work: Callable[[], object], nth: int) -> bool:
    """Whether the work was interrupted at its nth call, or had fewer."""
    before = sys.gettrace()
    sys.settrace(Striking(nth))
    try:
        work()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


def words(s: Session) -> list[str]:
    parts = [part for entry in s.entries() for part in entry.body.parts]  # type: ignore[union-attr]
    return [part.text for part in parts if isinstance(part, Text)]


def says(s: Session) -> None:
    s.user("struck")


def says_with_a_key(s: Session) -> None:
    s.user("struck", key="once")


def says_behind_another(s: Session) -> None:
    s.store.log._newest[s.id] -= 1  # type: ignore[attr-defined]  # a place that is taken
    s.user("struck")


def reads(s: Session) -> None:
    list(s.visible())


@pytest.mark.parametrize("work", [says, says_with_a_key, says_behind_another, reads])
def test_an_interrupt_at_any_call_leaves_the_store_usable(
    tmp_path: Path, work: Callable[[Session], None]
) -> None:
    nth, path = 0, tmp_path / "log.db"
    while True:
        nth += 1
        with holdfast.open(path) as hf, holdfast.open(path) as other:
            s = hf.session()
            s.user("before")
            if not struck(lambda: work(s), nth):  # noqa: B023
                break
            beside: list[list[str]] = []
            reader = threading.Thread(target=lambda: beside.append(words(s)), daemon=True)  # noqa: B023
            reader.start()
            reader.join(10)
            assert beside, f"a thread waits for ever after an interrupt at call {nth}"
            other.session().user("another connection writes")
            s.user("after")
            assert words(s) in (["before", "after"], ["before", "struck", "after"])
            assert hf.session(s.id).info.head == len(words(s))
    assert nth > 3
