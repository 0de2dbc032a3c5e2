"""What an export says of itself is counted in what it holds."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

import holdfast
from holdfast.engine.client import Holdfast, Session
from holdfast.model.log import Clear, PartRef
from holdfast.model.message import Reasoning, ToolCall, assistant, seal
from tests.exporters.carried import told

LONG = "The beam is oak, the beam is sound, the beam stays. " * 60


@pytest.fixture
def hf() -> Iterator[Holdfast]:
    with holdfast.open("memory:") as opened:
        yield opened


def beams(hf: Holdfast, many: int) -> Session:
    session = hf.session(model="claude-sonnet-4-6")
    for number in range(many):
        session.user(f"Look at beam {number}.")
        session.append(assistant(f"Beam {number}. {LONG}"))
    return session


@pytest.mark.parametrize("format", ["openai-chat", "codex"])
def test_what_was_summed_up_for_the_window_is_told(format: str, hf: Holdfast) -> None:
    session = beams(hf, 40)
    data, fidelity = told(session, format, model="gpt-4")
    text = data.decode()
    held = sum(f"Beam {number}. The beam" in text for number in range(40))
    shown, made = fidelity.carried[:2]
    messages = int(shown.split()[0])
    assert 0 < held < 40
    assert shown == f"{messages} messages, of 80 that the model sees now"
    assert made == (
        f"1 summary, made for this export alone, in the place of the other {80 - messages} messages"
    )
    assert held <= messages <= held * 2 + 40
    assert "the messages that summaries stand for; they stay in the store" in fidelity.not_carried
    if format == "codex":
        said = json.loads(text.splitlines()[-1])["payload"]["fidelity"]
        assert tuple(said["carried"]) == fidelity.carried


def test_what_fits_is_all_there(hf: Holdfast) -> None:
    _, fidelity = told(beams(hf, 2), "openai-chat", model="gpt-4.1")
    assert fidelity.carried == ("4 messages: what the model sees now",)


@pytest.mark.parametrize("format", ["anthropic", "claude-code", "codex"])
def test_what_fits_is_all_there_though_leaving_it_would_pay(format: str, hf: Holdfast) -> None:
    session = beams(hf, 100)
    economical = session.preview(model="claude-sonnet-4-5")
    assert economical.folded.summaries  # by itself, the policy would not send it all
    data, fidelity = told(session, format, model="claude-sonnet-4-5")
    assert fidelity.carried[0] == "200 messages: what the model sees now"
    text = data.decode()
    assert all(f"Beam {number}. The beam" in text for number in range(100))


def test_what_does_not_fit_is_no_more_than_has_to_be_summed_up(hf: Holdfast) -> None:
    session = beams(hf, 300)
    data, fidelity = told(session, "anthropic", model="claude-sonnet-4-5")
    assert fidelity.carried[0].endswith("of 600 that the model sees now")
    text = data.decode()
    held = sum(f"Beam {number}. The beam" in text for number in range(300))
    whole = session.preview(model="claude-sonnet-4-5", compact=False)
    share = whole.window.budget.room / whole.tokens
    assert held > 300 * share * 0.6


def test_results_that_are_sent_together_are_messages_all_the_same(hf: Holdfast) -> None:
    session = hf.session(model="claude-sonnet-4-6")
    session.user("Look at both beams.")
    session.append(assistant(*(ToolCall(f"c{one}", "shell", "{}") for one in range(2))))
    for one in range(2):
        session.tool_result(f"c{one}", "sound", name="shell")
    _, fidelity = told(session, "claude-code")
    assert fidelity.carried[0] == "4 messages: what the model sees now"


def test_thoughts_and_outputs_are_told_apart_and_once(hf: Holdfast) -> None:
    session = hf.session(model="claude-sonnet-4-6")
    for number in range(3):
        session.user(f"Look at beam {number}.")
        thought = Reasoning("Which?", seal("anthropic", b'{"signature":"c2ln"}'))
        call = ToolCall(f"toolu_{number}", "shell", '{"cmd":"look"}')
        session.append(assistant(thought, call), model="claude-sonnet-4-6", provider="anthropic")
        session.tool_result(f"toolu_{number}", LONG, name="shell")
        session.append(assistant("It is sound."))
    session.append(Clear(parts=(PartRef(2, 0), PartRef(6, 0), PartRef(3, 0))))
    data, fidelity = told(session, "anthropic")
    assert data.count(b'"thinking":"Which?"') == 1
    assert "2 thoughts of finished turns, which the model does not see any more" in (
        fidelity.not_carried
    )
    assert "1 output of tools that the model does not see any more, but for a line each" in (
        fidelity.not_carried
    )
    assert not any("another provider" in line for line in fidelity.not_carried)
