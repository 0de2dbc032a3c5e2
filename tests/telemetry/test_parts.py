"""Subtasks are a part of their turn, and compactions that nobody asked for are told too."""

from contextlib import closing
from pathlib import Path

import holdfast
from holdfast.agent.loop import Agent
from holdfast.agent.permissions.rules import Permissions
from holdfast.agent.tools.toolbox import Toolbox
from holdfast.engine.client import Holdfast, ThreadLock
from holdfast.engine.engine import Engine
from holdfast.engine.ids import SystemClock, Ulids
from holdfast.engine.plugins import open_store, provider
from holdfast.testing import StrictServer
from tests.agent.test_subtask import prepared, script
from tests.properties.histories import Small
from tests.telemetry.listening import Listening


def test_a_subtask_is_no_session_and_takes_no_time_of_its_own(tmp_path: Path) -> None:
    prepared(tmp_path)
    listening = Listening()
    with (
        StrictServer(script) as server,
        holdfast.open(tmp_path / "log.db", telemetry=listening.emitter) as hf,
        closing(provider("anthropic", "anthropic", key="sk-test", url=server.url())) as to,
    ):
        s = hf.session(model="claude-sonnet-4-6", directory=tmp_path / "work")
        Agent(s, to, Toolbox(str(tmp_path / "work")), rules=Permissions()).turn("which number?")
    assert listening.total("holdfast.session.count") == 1
    inner, outer = listening.spans("invoke_agent")
    assert inner.parent
    assert outer.context
    assert inner.parent.span_id == outer.context.span_id
    assert outer.end_time
    assert outer.start_time
    seconds = (outer.end_time - outer.start_time) / 1e9
    assert listening.total("holdfast.active_time.total") == seconds
    assert listening.total("holdfast.token.usage", query_source="subagent") > 0
    assert listening.total("holdfast.token.usage", query_source="main") > 0


def test_a_window_that_is_made_to_fit_says_so(tmp_path: Path) -> None:
    listening, clock = Listening(), SystemClock()
    engine = Engine(
        open_store(str(tmp_path / "log.db")), clock=clock, ids=Ulids(clock), lock=ThreadLock,
        catalogue=Small(4_000), telemetry=listening.emitter,
    )  # fmt: skip
    with Holdfast(engine) as hf:
        s = hf.session(model="m")
        for number in range(40):
            s.user(f"question {number}: " + "words and words " * 20)
            s.append(holdfast.assistant("answers and answers " * 40))
        s.user("and now?")
        s.preview()
        assert not listening.spans("compact")  # what only would happen is not told
        s.window()
    told = [dict(one.attributes or {}) for one in listening.spans("compact")]
    assert told
    assert all(one["holdfast.compaction.trigger"] == "overflow" for one in told)
    assert listening.total("holdfast.compaction.count") == len(told)
