"""The end of a session is what anybody would get who read all of it and kept the last few."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import holdfast
from holdfast import assistant, user
from holdfast.engine import loading as module
from holdfast.engine.blocking import Session
from holdfast.engine.client import Holdfast, drive
from holdfast.model.log import Entry, Summary
from holdfast.model.span import Span


@pytest.fixture
def hf(tmp_path: Path) -> Iterator[Holdfast]:
    with holdfast.open(tmp_path / "store.db") as opened:
        yield opened


def long(hf: Holdfast) -> Session:
    """Two summaries, a kept entry, a rewind, and markers in between."""
    s = hf.session(model="claude-sonnet-4-5")
    for n in range(6):
        s.append(user(f"asked {n}"))
        s.append(assistant(f"answered {n}"))
    s.append(Summary(covers=(Span(1, 4),), text="first"))
    s.append(Summary(covers=(Span(5, 8),), text="second", kept=(6,)))
    s.pin(fact="a fact")
    s.append(user("gone"))
    s.append(assistant("gone too"))
    s.rewind(15)
    s.append(user("last"))
    s.append(assistant("end"))
    return s


def read(s: Session, many: int, *, whole: bool = False) -> tuple[list[Entry], int]:
    log, view = s.store.log, s.view()

    async def run() -> tuple[list[Entry], int]:
        end = await module.tail(log, view, many, whole=whole)
        pages = [page async for page in module.tail_pages(log, view, end)]
        return [entry for page in pages for entry in page], end.earlier

    return drive(run())


@pytest.mark.parametrize("step", [512, 1])
def test_the_tail_is_the_last_of_what_is_seen(
    hf: Holdfast, step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "STEP", step)
    s = long(hf)
    seen = list(s.visible())
    assert drive(module.size(s.store.log, s.view())) == len(seen)
    assert [entry.body for entry in seen if isinstance(entry.body, Summary)]
    for many in range(1, len(seen) + 3):
        found, earlier = read(s, many)
        assert [one.seq for one in found] == [one.seq for one in seen[-many:]]
        assert earlier == max(len(seen) - many, 0)


def test_the_tail_of_the_whole_log_is_its_last_entries(hf: Holdfast) -> None:
    s = long(hf)
    every = list(s.entries())
    assert drive(module.size(s.store.log, s.view(), whole=True)) == len(every)
    for many in range(1, len(every) + 3):
        found, earlier = read(s, many, whole=True)
        assert [one.seq for one in found] == [one.seq for one in every[-many:]]
        assert earlier == max(len(every) - many, 0)


def test_nothing_was_said_yet(hf: Holdfast) -> None:
    s = hf.session(model="m")
    assert read(s, 3) == ([], 0)
    assert read(s, 3, whole=True) == ([], 0)
