"""The real programs go on with what Holdfast hands over, and nothing they send is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.engine.bridge import drive
from holdfast.engine.client import Holdfast, Session
from holdfast.engine.exporting.handoff import hand_over, put
from holdfast.model.log import Summary
from holdfast.model.message import (
    Media,
    Reasoning,
    ToolCall,
    ToolResult,
    assistant,
    seal,
    tool,
    user,
)
from holdfast.model.span import Span
from holdfast.testing import StrictServer
from tests.agents import claude_code, codex
from tests.agents.harness import NOTES, Ended, Place, dot, needs

AGAIN = "Still closed."
BEFORE = "Paint the boat."
SUMMARY = "The boat was painted blue."


def story(hf: Holdfast, place: Place, *, compacted: bool) -> Session:
    """A session of another agent: tools, a picture, thoughts; perhaps a summary before them."""
    session = hf.session(model="gemini-3.1-pro", directory=str(place.work), title="The harbour")
    if compacted:
        session.user(BEFORE)
        session.append(assistant("It is blue."))
        session.append(Summary(covers=(Span(1, 2),), text=SUMMARY, tokens_before=99))
    session.append(user("What do the notes say?", Media("image/png", dot())))
    thought = Reasoning("I look.", seal("google", b'{"thoughtSignature":"eA=="}'))
    asked = ToolCall("call_1", "read_file", '{"path":"notes.txt"}')
    other = ToolCall("call_2", "run_shell_command", '{"command":"ls missing"}')
    session.append(assistant(thought, "Reading.", asked, other), provider="google")
    session.append(
        tool(
            ToolResult("call_1", NOTES, name="read_file"),
            ToolResult("call_2", "no such file", error=True, name="run_shell_command"),
        )
    )
    session.append(assistant("They are closed on Mondays."))
    return session


def handed(place: Place, to: str, *, compacted: bool) -> str:
    """The id under which a program finds the session."""
    with holdfast.open("memory:") as hf:
        inner = drive(hf.engine.session(story(hf, place, compacted=compacted).id))
        made = drive(hand_over(inner, inner.turns, to, directory=str(place.work)))
    put(made, place.home / (".claude" if to == "claude-code" else ".codex"))
    return made.id


def resumed(place: Place, server: StrictServer, to: str, id: str) -> Ended:
    if to == "claude-code":
        return place.run(
            *("claude", "--resume", id, "-p", "And now?", "--output-format", "json"),
            ANTHROPIC_BASE_URL=server.url("anthropic"),
            CLAUDE_CONFIG_DIR=str(place.home / ".claude"),
            **claude_code.SETTINGS,
        )
    settings = codex._settings("", "Strict", False)  # pyright: ignore[reportPrivateUsage]
    home = place.home / ".codex"
    (home / "config.toml").write_text(settings.replace("SERVER", server.url("openai")))
    return place.run(
        *("codex", "exec", "resume", id, "--json", "--skip-git-repo-check", "And now?"),
        CODEX_HOME=str(home),
        STRICT_KEY="dummy",
    )


@pytest.mark.parametrize("compacted", [False, True], ids=["whole", "compacted"])
@pytest.mark.parametrize(("to", "program"), [("claude-code", "claude"), ("codex", "codex")])
def test_a_session_goes_on_in_the_real_program(
    to: str, program: str, compacted: bool, tmp_path: Path
) -> None:
    needs(program)
    place = Place.at(tmp_path)
    id = handed(place, to, compacted=compacted)
    with StrictServer(lambda asked: AGAIN) as server:
        ended = resumed(place, server, to, id)
    assert ended.status == 0, ended
    assert AGAIN in ended.out
    assert id in ended.out
    assert [(asked.rule, asked.refusal) for asked in server.refused] == []
    sent = [asked.body for asked in server.asked if asked.endpoint == "create"]
    assert seen(sent[-1], compacted=compacted)


def seen(body: dict[str, Any], *, compacted: bool) -> bool:
    """Whether the model sees what was said, what tools answered, and the words before it."""
    text = json.dumps(body.get("messages") or body["input"])
    order = [
        *("This conversation was begun", "What do the notes say?", "Reading.", "notes.txt"),
        *(NOTES, "no such file", "They are closed on Mondays.", "And now?"),
    ]
    places = [text.rfind(words) for words in order]  # the ledger before it names some of them
    assert -1 not in places, order[places.index(-1)]
    assert places == sorted(places)
    assert "iVBORw0KGgo" in text
    return (SUMMARY in text) == compacted and f'"{BEFORE}"' not in text
