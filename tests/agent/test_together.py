"""Jobs that run at the same time: what they bring, what they raise, and what is done for them."""

import threading
import time

import pytest

from holdfast.agent.parallel import Together


def test_results_are_in_the_order_of_the_jobs() -> None:
    slow, quick = threading.Event(), threading.Event()

    def first() -> str:
        assert quick.wait(10)
        return "first"

    def second() -> str:
        quick.set()
        return "second"

    assert Together([first, second], slow).run() == ["first", "second"]


def test_what_a_job_raises_is_raised_once_all_have_ended() -> None:
    ended: list[int] = []

    def fails() -> None:
        raise ValueError("no")

    def goes_on() -> None:
        time.sleep(0.05)
        ended.append(1)

    with pytest.raises(ValueError, match="no"):
        Together([fails, goes_on], threading.Event()).run()
    assert ended == [1]


def test_a_job_has_things_done_by_the_thread_that_waits() -> None:
    home = threading.get_ident()
    made: Together[tuple[int, int]]

    def job() -> tuple[int, int]:
        return threading.get_ident(), made.here(threading.get_ident)

    made = Together([job], threading.Event())
    (told,) = made.run()
    assert told
    assert told[0] != home
    assert told[1] == home
    assert made.here(threading.get_ident) == home


def test_what_goes_wrong_there_is_raised_in_the_job() -> None:
    made: Together[str]

    def wrong() -> None:
        raise ValueError("asked for nothing")

    def job() -> str:
        try:
            made.here(wrong)
        except ValueError as error:
            return str(error)
        return "nothing was raised"

    made = Together([job], threading.Event())
    assert made.run() == ["asked for nothing"]


def test_an_interrupt_stops_what_is_under_way() -> None:
    stop = threading.Event()
    begun = threading.Event()

    def job() -> None:
        begun.set()
        assert stop.wait(10)

    def interrupt() -> None:
        raise KeyboardInterrupt

    made: Together[None] = Together([job, lambda: made.here(interrupt)], stop)
    with pytest.raises(KeyboardInterrupt):
        made.run()
    assert begun.is_set()
    assert stop.is_set()
