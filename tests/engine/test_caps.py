"""Caps against a real server: the call is not made, everything is kept, and background is quiet."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.engine.bridge import drive
from holdfast.engine.client import Holdfast
from holdfast.engine.plugins import provider
from holdfast.engine.usage.costs import midnight
from holdfast.errors import Capped, InvalidRequest, ProviderError, UnpricedModel
from holdfast.files import config_home
from holdfast.model.log import Summary
from holdfast.model.reply import Call
from holdfast.model.spending import Caps
from holdfast.ports import Provider
from holdfast.testing import StrictServer
from holdfast.testing.strict.script import answer
from tests.cli.running import run

MODEL = "claude-sonnet-4-6"


@contextmanager
def claude(server: StrictServer) -> Iterator[Provider]:
    made = provider("anthropic", "anthropic", key="sk-test", url=server.url("anthropic"))
    with closing(made):
        yield made


def known(profiles: str) -> None:
    """Models as the user's own file tells of them."""
    config_home().mkdir(parents=True, exist_ok=True)
    (config_home() / "profiles.toml").write_text(profiles)


def spend(hf: Holdfast, session: str, dollars: float, at: int) -> None:
    """A call that cost so much, as another process records it."""
    cost = round(dollars * 1e9)
    call = Call(id=hf.engine.ids.new(), session=session, started=at, model=MODEL, cost=cost)
    drive(hf.engine.store.calls.record(call))


def test_a_call_is_not_made_where_it_would_reach_the_cap(tmp_path: Path) -> None:
    with (
        StrictServer(lambda asked: "yes") as server,
        holdfast.open(tmp_path / "log.db") as hf,
        claude(server) as to,
    ):
        s = hf.session(model=MODEL, cap=0.5)
        s.user("hello")
        s.send(to)
        spend(hf, s.id, 0.499999, s.now())
        s.user("and again")
        with pytest.raises(Capped) as told:
            s.send(to)
        assert told.value.of == "session"
        assert told.value.spent + told.value.price >= told.value.cap == 500_000_000
        assert len(server.asked) == 1
        assert [entry.body.text for entry in s.entries()][-1] == "and again"  # type: ignore[union-attr]
        s.set_caps(session=1.0)
        s.send(to)
        assert len(server.asked) == 2


@pytest.mark.seed("001", 99)
def test_a_day_is_capped_over_all_sessions_and_openings(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    with StrictServer(lambda asked: "yes") as server, claude(server) as to:
        with holdfast.open(path) as hf:
            other = hf.session(model=MODEL)
            spend(hf, other.id, 1.0, midnight(other.now()))
            spend(hf, other.id, 5.0, midnight(other.now()) - 1)  # yesterday
        with holdfast.open(path, caps=Caps(day=1.00001)) as hf:
            s = hf.session(model=MODEL)
            s.user("hello " * 50)
            with pytest.raises(Capped, match=r"today's sessions have cost 1\.0000"):
                s.send(to)
            assert not server.asked
        with holdfast.open(path, caps=Caps(day=2)) as hf:
            hf.session(s.id).send(to)
            assert len(server.asked) == 1


def test_what_is_asked_beside_the_turns_is_refused_quietly(tmp_path: Path) -> None:
    asked: list[Any] = []

    def summariser(question: Any) -> str:
        asked.append(question)
        return "A summary."

    known("[tiny]\nextends = 'claude-sonnet-4-6'\nwindow = 8000\noutput_limit = 1000\n")
    with holdfast.open(tmp_path / "log.db") as hf:
        s = hf.session(model="tiny", summariser=summariser, cap=100.0)
        spend(hf, s.id, 99.9999999, s.now())
        for number in range(40):
            s.user(f"Request {number}: " + "look at the handler once more, please. " * 20)
            s.append(holdfast.assistant(f"Done {number}. " + "It was changed as asked. " * 20))
        s.user("What is left?")
        with pytest.raises(Capped):
            s.window()
        marker = next(e.body for e in s.entries() if isinstance(e.body, Summary))
        assert marker.model == ""  # it was made without a model
        assert not asked
        s.set_caps(session=200.0)
        assert s.window().tokens < 8_000


def test_what_is_under_way_is_held(tmp_path: Path) -> None:
    with holdfast.open(tmp_path / "log.db") as hf:
        s = hf.session(model=MODEL, cap=1.0)
        s.user("hello")
        with hf.engine.held.holding(s.id, 1_000_000_000), pytest.raises(Capped):
            s.window()
        s.window()


def test_a_model_without_a_price_is_told_and_not_stopped(tmp_path: Path) -> None:
    known("[nobody-knows-it]\nwindow = 32000\noutput_limit = 1000\n")
    with holdfast.open(tmp_path / "log.db", caps=Caps(session=0.01)) as hf:
        s = hf.session(model="nobody-knows-it")
        s.user("hello")
        with pytest.warns(UnpricedModel, match="nobody-knows-it"):
            s.window()
        s.window()  # said once
        assert hf.costs("model") == []


def test_caps_stand_in_the_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    (tmp_path / "holdfast").mkdir()
    file = tmp_path / "holdfast" / "settings.toml"
    file.write_text("[caps]\nsession = 2\nday = 10.5\n")
    with holdfast.open(tmp_path / "log.db") as hf:
        assert hf.session().caps == Caps(session=2, day=10.5)
        assert hf.session(cap=1).caps == Caps(session=1, day=10.5)
    file.write_text("[caps]\nweek = 2\n")
    with pytest.raises(InvalidRequest, match="week"):
        holdfast.open(tmp_path / "log.db")


def test_a_call_that_brought_no_word_is_a_row(tmp_path: Path) -> None:
    with (
        StrictServer(lambda asked: answer()) as server,
        holdfast.open(tmp_path / "log.db") as hf,
        claude(server) as to,
    ):
        s = hf.session(model=MODEL)
        s.user("hello")
        with pytest.raises(ProviderError):
            s.send(to)
        (one,) = hf.costs("cause")
        assert (one.name, one.calls, one.failed) == ("turn", 2, 2)  # it is asked once more
        assert one.usage.prompt > 0
        assert s.cost == one.cost / 1e9 > 0


def test_subtasks_have_the_cap_of_their_session(tmp_path: Path) -> None:
    with (
        StrictServer(lambda asked: "yes") as server,
        holdfast.open(tmp_path / "log.db") as hf,
        claude(server) as to,
    ):
        s = hf.session(model=MODEL, cap=0.5)
        first, other = s.subtask("one"), s.subtask("another")
        first.user("hello")
        first.send(to)
        assert s.cost == first.cost > 0
        spend(hf, first.id, 0.499999, s.now())
        for one in (other, s):
            one.user("and again")
            with pytest.raises(Capped):
                one.send(to)
        assert len(server.asked) == 1


def at_once(path: Path, cap: float, many: int) -> tuple[int, list[str]]:
    """How many of as many subtasks that speak at the same time are answered; how others end.

    Nobody is answered before each has asked or been refused.
    """
    refused, servers, begun = list[str](), list[StrictServer](), threading.Barrier(many)

    def script(asked: Any) -> str:
        until = time.monotonic() + 30
        while len(servers[0].asked) + len(refused) < many and time.monotonic() < until:
            time.sleep(0.01)
        return "yes"

    def work(s: Any) -> None:
        begun.wait()
        try:
            s.send(to)
        except Capped as capped:
            refused.append(str(capped))

    with (
        StrictServer(script) as server,
        holdfast.open(path) as hf,
        claude(server) as to,
        ThreadPoolExecutor(many) as pool,
    ):
        servers.append(server)
        s = hf.session(model=MODEL, cap=cap)
        parts = [s.subtask(f"part {n}") for n in range(many)]
        for one in parts:
            one.user("hello " * 2_000)
        list(pool.map(work, parts))
        return len(server.asked), refused


def test_calls_at_the_same_time_hold_their_prompts(tmp_path: Path) -> None:
    answered, refused = at_once(tmp_path / "log.db", cap=0.02, many=8)
    assert answered <= 2  # a prompt is about 0.0085 USD
    assert len(refused) == 8 - answered
    for told in refused:
        assert "cost 0.0000 USD" in told
        assert "is held for calls under way" in told


def test_subtasks_at_the_same_time_are_not_held_at_all_they_might_say(tmp_path: Path) -> None:
    assert at_once(tmp_path / "log.db", cap=0.5, many=3) == (3, [])


@pytest.mark.parametrize("number", ["nan", "inf", "-inf"])
def test_what_is_no_amount_is_no_cap(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: str
) -> None:
    with (
        holdfast.open(tmp_path / "log.db") as hf,
        pytest.raises(InvalidRequest, match="finite number"),
    ):
        hf.session(cap=float(number))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    (tmp_path / "holdfast").mkdir()
    (tmp_path / "holdfast" / "settings.toml").write_text(f"[caps]\nday = {number}\n")
    with pytest.raises(InvalidRequest, match=r"settings\.toml: \[caps\] .*finite number"):
        holdfast.open(tmp_path / "log.db")
    done = run("run", "-p", "hi", "--cap-session", number)
    assert done.exit_code == 2
    assert "--cap-session" in done.stderr
