"""What holds when several threads use one store at once."""

from __future__ import annotations

from collections.abc import Callable
from threading import Barrier, Thread

from holdfast.engine.client import drive
from holdfast.errors import Conflict
from holdfast.model.log import Entry, Pin
from holdfast.model.message import Text
from holdfast.model.span import EVERYTHING
from holdfast.model.store import Expect
from holdfast.ports import Store
from holdfast.testing.factories import append, call, draft, job, read_all, start

from .base import Contract


def together(many: int, work: Callable[[int], None]) -> None:
    """Run the work in this many threads that begin at the same moment; raise what any raised."""
    gate, raised = Barrier(many), list[BaseException]()

    def run(number: int) -> None:
        try:
            gate.wait()
            work(number)
        except BaseException as error:
            raised.append(error)

    threads = [Thread(target=run, args=(number,)) for number in range(many)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if raised:
        raise raised[0]


def said(entries: tuple[Entry, ...]) -> list[str]:
    return [part.text for e in entries for part in e.body.parts if isinstance(part, Text)]  # type: ignore[union-attr]


class ThreadContract(Contract):
    """Nothing is lost, nothing is doubled, nothing is half there."""

    def test_appends_of_several_threads_are_all_kept_in_whole_batches(self, store: Store) -> None:
        id = start(store)

        def write(writer: int) -> None:
            for turn in range(10):
                append(store, id, f"{writer}.{turn}a", f"{writer}.{turn}b")

        together(4, write)
        found = read_all(store, id)
        assert [e.seq for e in found] == list(range(1, 81))
        lines = said(found)
        assert len(set(lines)) == 80
        assert all(a[:-1] == b[:-1] for a, b in zip(lines[::2], lines[1::2], strict=True))
        for writer in range(4):
            own = [line for line in lines if line.startswith(f"{writer}.")]
            assert own == sorted(own)

    def test_one_key_in_several_threads_happens_once(self, store: Store) -> None:
        id = start(store)
        made: list[tuple[Entry, ...]] = []
        together(4, lambda _: made.append(append(store, id, "once", key="k")))
        assert len(read_all(store, id)) == 1
        assert made == made[:1] * 4

    def test_of_several_with_one_expectation_one_succeeds(self, store: Store) -> None:
        id = start(store)
        won, lost = list[int](), list[int]()

        def claim(number: int) -> None:
            try:
                append(store, id, str(number), expect=Expect(message=0))
                won.append(number)
            except Conflict:
                lost.append(number)

        together(4, claim)
        assert (len(won), len(lost)) == (1, 3)
        assert said(read_all(store, id)) == [str(won[0])]

    def test_messages_do_not_disturb_a_waiting_marker(self, store: Store) -> None:
        id = start(store)

        def write(number: int) -> None:
            if number:
                append(store, id, "message")
            else:
                append(store, id, Pin(fact="x"), expect=Expect(marker=0))

        together(4, write)
        now = drive(store.sessions.session(id))
        assert now.head == 4
        assert now.last_marker in range(1, 5)

    def test_a_reader_sees_whole_batches_only(self, store: Store) -> None:
        id = start(store)

        def work(number: int) -> None:
            for _ in range(20):
                if number:
                    append(store, id, "a", "b", "c")
                else:
                    assert len(drive(store.log.read(id, EVERYTHING))) % 3 == 0
                    assert len(drive(store.log.heads(id, EVERYTHING))) % 3 == 0

        together(3, work)

    def test_one_job_is_leased_once(self, store: Store) -> None:
        id = start(store)
        drive(store.jobs.offer(job(id)))
        held: list[object] = []
        together(
            4,
            lambda n: held.append(drive(store.jobs.lease("summary", owner=f"{n}", now=1, until=9))),
        )
        assert sum(one is not None for one in held) == 1

    def test_one_request_recorded_by_several_is_one_call(self, store: Store) -> None:
        id = start(store)

        def record(number: int) -> None:
            reply = call(id, provider="p", request="r", content="c")
            if number % 2:
                drive(store.calls.record(reply))
            else:
                drive(store.log.append(id, [draft()], call=reply))

        together(4, record)
        assert len(drive(store.calls.calls(id))) == 1
