"""The metrics that coding agents are watched by, each driven by what really happens."""

from pathlib import Path

import pytest

import holdfast
from tests.telemetry.listening import Listening
from tests.telemetry.playing import KEY, WORDS, play


@pytest.fixture(scope="module")
def heard(tmp_path_factory: pytest.TempPathFactory) -> Listening:
    """A day's work, listened to."""
    path = tmp_path_factory.mktemp("day")
    listening = Listening()
    with holdfast.open(path / "log.db", telemetry=listening.emitter) as hf:
        play(hf, path / "work")
    return listening


@pytest.mark.seed("001", 173)
def test_sessions(heard: Listening) -> None:
    assert heard.total("holdfast.session.count", start_type="fresh") == 1
    assert heard.total("holdfast.session.count", start_type="resume") == 1


@pytest.mark.seed("001", 174)
def test_lines_of_code(heard: Listening) -> None:
    assert heard.total("holdfast.lines_of_code.count", type="added") == 3 + 2
    assert heard.total("holdfast.lines_of_code.count", type="removed") == 1


@pytest.mark.seed("001", 176)
def test_commits_that_were_made(heard: Listening) -> None:
    assert heard.total("holdfast.commit.count") == 1  # the second had nothing to commit


@pytest.mark.seed("001", 175)
def test_pull_requests(heard: Listening) -> None:
    assert heard.total("holdfast.pull_request.count") == 1


@pytest.mark.seed("001", 100, 177)
def test_cost_is_what_the_calls_are_priced_at(heard: Listening) -> None:
    spent = heard.total("holdfast.cost.usage", model="claude-sonnet-4-6", query_source="main")
    each = (1_000 * 3 + 200 * 0.3 + 50 * 3.75 + 100 * 15) / 1e6
    assert spent == pytest.approx(8 * each)


@pytest.mark.seed("001", 101, 178)
@pytest.mark.parametrize(
    ("kind", "tokens"),
    [("input", 8_000), ("output", 800), ("cacheRead", 1_600), ("cacheCreation", 400)],
)
def test_tokens_are_four_disjoint_kinds(heard: Listening, kind: str, tokens: int) -> None:
    assert heard.total("holdfast.token.usage", type=kind, query_source="main") == tokens


@pytest.mark.seed("001", 179)
def test_decisions_about_code(heard: Listening) -> None:
    def decided(**by: str) -> float:
        return heard.total("holdfast.code_edit_tool.decision", language="Python", **by)

    assert decided(tool_name="write", decision="accept", source="config") == 1
    assert decided(tool_name="edit", decision="accept", source="user_temporary") == 1
    assert decided(tool_name="edit", decision="reject", source="user_reject") == 1
    assert heard.total("holdfast.code_edit_tool.decision") == 3  # commands are no code


@pytest.mark.seed("001", 180)
def test_active_time_is_that_of_the_turns(heard: Listening) -> None:
    (turn,) = heard.spans("invoke_agent")
    assert turn.end_time
    assert turn.start_time
    seconds = (turn.end_time - turn.start_time) / 1e9
    assert heard.total("holdfast.active_time.total", type="cli") == pytest.approx(seconds)
    assert seconds > 0


def test_each_session_is_a_series_of_its_own_unless_that_is_too_many(
    heard: Listening, tmp_path: Path
) -> None:
    (turn,) = heard.spans("invoke_agent")
    assert turn.attributes
    own = {"session__id": turn.attributes["gen_ai.conversation.id"]}
    assert heard.total("holdfast.token.usage", **own) == 10_800
    listening = Listening(OTEL_METRICS_INCLUDE_SESSION_ID="false", HOLDFAST_METRIC_PREFIX="agent")
    with holdfast.open(tmp_path / "log.db", telemetry=listening.emitter) as hf:
        s = hf.session(model="claude-sonnet-4-6")
        s.user("hi")
        s.window()
    (point,) = listening.metrics()["agent.session.count"]
    assert dict(point.attributes) == {"start_type": "fresh"}


def test_nothing_that_was_said_is_told(heard: Listening) -> None:
    told = heard.everything()
    assert "execute_tool other" in told  # a tool's name is the model's to choose
    assert WORDS not in told
    assert KEY not in told
