"""A ledger is bounded: what is old is counted exactly; reading on gives what reading all gives."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from holdfast.core.extract.digest import Digest
from holdfast.core.ledger import bounds
from holdfast.core.ledger.build import current, ledger, step
from holdfast.core.ledger.render import folded, render
from holdfast.core.ledger.requests import said as asked_in
from holdfast.core.log.fold import fold
from holdfast.engine import loading
from holdfast.engine.client import drive
from holdfast.engine.inspect import ledger as kept
from holdfast.engine.inspect.ledger import Ledgers
from holdfast.model import wire
from holdfast.model.ledger import Ledger
from holdfast.model.log import Body, Entry, Redo, Rewind, Undo
from holdfast.model.message import Message
from holdfast.model.span import within
from holdfast.ports import Store
from holdfast.stores.memory import MemoryStore
from holdfast.testing.factories import append, read_all, start
from tests.ledger.saying import asked, done, said, used
from tests.ledger.test_stepping import turns

MEGABYTE = 1_000_000


@contextmanager
def small() -> Iterator[None]:
    """Bounds so small that a short log reaches all of them."""
    shares = {title: share // 100 for title, share in bounds.SHARES.items()}
    with ExitStack() as stack:
        for where, name, value in (
            (bounds, "MOST", 900), (bounds, "SHARES", shares), (kept, "INTERVAL", 3),
            (loading, "PAGE", 2),
        ):  # fmt: skip
            stack.enter_context(patch.object(where, name, value))
        yield


def requests(known: Ledger) -> int:
    """How many requests a ledger tells of, those that it only counts included."""
    now = current(known)
    titles = (bounds.OPEN, bounds.INTERRUPTED, bounds.ANSWERED)
    return len(now.requests) + sum(folded(now, title) for title in titles)


def test_ten_thousand_answered_requests_fold_into_a_count() -> None:
    log = (body for n in range(10_000) for body in (asked(f"Do number {n} of x_y/{n}.py"), done()))
    known = ledger(said(*log))
    assert requests(known) == 10_000
    assert len(wire.encode(known)) < MEGABYTE
    older = known.earlier.folded[bounds.ANSWERED]
    assert (older.first, older.last) == (1, known.requests[0].seq - 2)
    told = render(known, 60)
    shown = told.count("Do number")
    assert shown
    assert f"requests answered {10_000 - shown}" in told


@pytest.mark.parametrize(
    "log",
    [
        [asked("x" * 3_000_000), done(), asked("and y"), done()],
        [asked("€" * 2_000 + str(n)) for n in range(2_000)],
        [asked(f"Never touch file_{n}.py, " + "please " * 40) for n in range(3_000)],
        [b for n in range(3_000) for b in used("Write", {"file_path": f"/d/{n}/{'n' * 200}.py"})],
        [b for n in range(2_000) for b in used("Bash", {"command": f"run {n} {'z' * 900}"}, "no")],
        [asked("go"), *(b for n in range(400) for b in (done(f"Decision: {n} {'w' * 4000}"),))],
        [b for n in range(900) for b in (asked("go"), Rewind(to=max(3 * n - 2, 0)), done())],
    ],
    ids=["a huge request", "open", "constraints", "files", "commands", "decisions", "rewinds"],
)  # fmt: skip
def test_no_log_makes_a_ledger_of_a_megabyte(log: list[Body]) -> None:
    known = Ledger()
    for entry in said(*log):
        known = step(known, entry)
        assert known.weight <= bounds.MOST
    assert len(wire.encode(known)) < MEGABYTE


def test_open_requests_constraints_and_corrections_stay() -> None:
    many = [body for n in range(5_000) for body in (asked(f"Do {n} " + "a b " * 20), done())]
    first = [asked("Never use tabs."), done(), asked("No, that is wrong: use spaces"), done()]
    known = ledger(said(*first, *many, asked("And what about this?")))
    assert [one.text for one in known.constraints] == ["Never use tabs."]
    assert [one.seq for one in known.corrections] == [3]
    assert [one.text for one in known.requests if one.status == "open"] == ["And what about this?"]


def test_a_reply_after_a_rewind_answers_what_is_open_again() -> None:
    known = current(ledger(said(asked("go"), done(), Rewind(to=1), done("again"))))
    assert [(one.status, one.ended) for one in known.requests] == [("answered", 4)]


def numbered(given: list[Body]) -> list[Entry]:
    return [replace(one, completed=None) if one.seq % 7 == 0 else one for one in said(*given)]


back = st.one_of(
    turns,
    turns,
    st.integers(0, 40).map(lambda to: Rewind(to=to)),
    st.integers(0, 40).map(lambda seq: Undo(marker=seq)),
    st.integers(0, 40).map(lambda seq: Redo(marker=seq)),
)


@settings(deadline=None)
@given(st.lists(back, max_size=40).map(numbered))
def test_every_visible_request_is_told_or_counted(log: list[Entry]) -> None:
    with small():
        known = ledger(log)
    seen = fold([e for e in log if isinstance(e.body, Rewind | Undo | Redo)]).visible
    wanted = [e for e in log if isinstance(e.body, Message) and asked_in(e.body)]
    assert requests(known) == sum(within(one.seq, seen) for one in wanted)


@settings(deadline=None, max_examples=60)
@given(st.lists(back, max_size=40), st.lists(st.integers(0, 40), max_size=5), st.integers(0, 40))
def test_reading_on_from_anywhere_gives_what_reading_all_gives(
    given: list[Body], stops: list[int], forked: int
) -> None:
    store = MemoryStore()
    id = start(store)
    append(store, id, *given) if given else None
    fork = start(store, parent=id, fork=min(forked, len(given)))
    append(store, fork, asked("elsewhere"), done())
    with small():
        for session in (id, fork):
            log = read_all(store, session)
            held = Ledgers(store)
            for upto in (*(min(stop, len(log)) for stop in stops), len(log)):
                wanted = ledger(log[:upto])
                assert drive(held.at(session, upto)) == wanted
                assert drive(Ledgers(store).at(session, upto)) == wanted
        assert bool(drive(store.snapshots.places(id))) <= (len(given) >= 3)


@settings(deadline=None)
@given(st.lists(turns, max_size=30).map(numbered), st.integers(0, 30))
def test_a_digest_read_on_from_where_it_was_frozen_is_the_same(log: list[Entry], at: int) -> None:
    with (
        patch("holdfast.core.extract.digest.PIECES", 2),
        patch("holdfast.core.extract.digest.NAMES", 2),
    ):
        whole, part = Digest(), Digest()
        for entry in log:
            whole.step(entry)
        for entry in log[:at]:
            part.step(entry)
        part = wire.decode(wire.encode(part), Digest)
        for entry in log:  # what was read already changes nothing
            part.step(entry)
    assert part == whole


def test_a_snapshot_that_cannot_be_read_is_computed_again() -> None:
    store: Store = MemoryStore()
    id = start(store)
    append(store, id, *(b for n in range(9) for b in (asked(f"Do {n}"), done())))
    drive(store.snapshots.save(id, 10, kept.VERSION, b"garbage"))
    assert drive(Ledgers(store).at(id, 18)) == ledger(read_all(store, id))


def test_an_old_store_is_read_in_slices_and_meanwhile_tells_of_the_newest() -> None:
    store: Store = MemoryStore()
    id = start(store)
    append(store, id, *(b for n in range(50) for b in (asked(f"Do {n}"), done())))
    with patch.object(kept, "SLICE", 20), patch.object(kept, "NEWEST", 10), small():
        shares, known = list[int](), None
        for _ in range(6):
            opened = Ledgers(store)  # each time by another process
            known = drive(opened.near(id, 100))
            shares.append(known.since)
            assert opened.behind == bool(known.since)
        assert known == ledger(read_all(store, id))
    assert shares == [91, 91, 91, 91, 0, 0]


@given(st.integers(1, 60), st.integers(100, 3_000))
def test_snapshots_stay_near_whatever_a_rewind_goes_back_to(many: int, step: int) -> None:
    places: list[int] = []
    for newest in range(step, many * step + 1, step):
        gone = kept.superfluous(places, newest)
        places = [place for place in places if place not in gone] + [newest]
    newest = places[-1]
    for target in range(0, newest, step):
        base = max((place for place in places if place <= target), default=0)
        assert target - base <= max((newest - target) // 2, 2 * step)
    assert len(places) <= 50


def test_a_million_entries_have_few_snapshots() -> None:
    places: list[int] = []
    for newest in range(2_048, 1_000_000, 2_048):
        gone = kept.superfluous(places, newest)
        places = [place for place in places if place not in gone] + [newest]
    assert len(places) <= 50
