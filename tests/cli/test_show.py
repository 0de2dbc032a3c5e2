"""A session is shown as a model would see it, or whole, or as it was."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import holdfast
from holdfast import Message, Reasoning, Text, ToolCall, assistant
from holdfast.cli.ui import entry_view
from holdfast.cli.ui.terminal import neutral
from holdfast.model import log
from holdfast.model.span import Span
from holdfast.testing.factories import HOSTILE, every_part
from tests.cli.running import run, values


@pytest.fixture
def worked() -> str:
    """A session with a call, its result, a summary, a clearing and a question after them."""
    with holdfast.open() as hf:
        s = hf.session(title="Login", model="claude-sonnet-4-6")
        s.user("first question")
        s.append(assistant(Reasoning("thinking"), ToolCall("c1", "read", '{"path": "a"}')))
        s.tool_result("c1", "the output", name="read")
        s.append(assistant("first answer"))
        s.append(log.Summary(covers=(Span(1, 2),), text="what was before", trigger="manual"))
        s.append(log.Clear(parts=(log.PartRef(3, 0),)))
        s.user("second question")
        return s.id


def test_the_window_has_the_summary_and_what_it_leaves(worked: str) -> None:
    shown = run("show", worked).stdout
    assert "first question" not in shown
    assert shown.index("Summary · summarise · covers 1–2 · manual") < shown.index("what was before")
    assert shown.index("what was before") < shown.index("first answer")
    assert "the output" not in shown
    assert "cleared · recall prt_" in shown
    assert "window: 3 messages · 1 summary\nwould be sent: " in shown
    assert f"holdfast show {worked} --all" in shown


def test_the_whole_log_says_what_is_not_in_the_window(worked: str) -> None:
    shown = run("show", worked, "--all").stdout
    assert "#1 user · not in the window" in shown
    assert "→ read · completed in" in shown
    assert "#6 Clear · prune · 1 part in 3 · auto" in shown
    assert "what was before" not in shown


def test_it_is_shown_as_it_was(worked: str) -> None:
    shown = run("show", worked, "--at", "4").stdout
    assert "the output" in shown
    assert "second question" not in shown
    assert "as it was at 4" in shown
    entries = values("show", worked, "--all", "--at", "2")
    assert [entry["seq"] for entry in entries] == [1, 2]
    assert entries[1]["calls"] == {"c1": "running"}
    by_id = run("show", worked, "--at", entries[1]["id"])
    assert "→ read · running" in by_id.stdout


def test_json_has_every_key_always(worked: str) -> None:
    entries = values("show", worked, "--all")
    keys = {
        "seq", "id", "kind", "role", "created", "completed", "model", "tokens", "visible",
        "cleared", "calls", "body",
    }  # fmt: skip
    assert all(set(entry) == keys for entry in entries)
    assert [entry["visible"] for entry in entries] == [False, False, True, True, True, False, True]
    assert entries[1]["calls"] == {"c1": "completed"}
    assert entries[2]["cleared"] == [0]
    assert entries[2]["tokens"] == 0
    assert entries[4]["kind"] == "summary"


def test_a_call_that_nobody_waited_for_was_interrupted() -> None:
    with holdfast.open() as hf:
        s = hf.session()
        s.append(assistant(ToolCall("c1", "sleep", "{}")))
        s.user("stop")
        s.append(assistant(ToolCall("c2", "make", "{}")), completed=False)
    shown = run("show", "last").stdout
    assert "→ sleep · interrupted" in shown
    assert "#3 assistant · unfinished" in shown
    assert "→ make · pending" in shown


@pytest.mark.parametrize("text", HOSTILE)
def test_no_part_of_any_kind_can_act(text: str) -> None:
    with holdfast.open() as hf:
        s = hf.session(title=text, model=text)
        s.append(Message("assistant", every_part(text)))
        s.append(log.Pin(fact=text or "…", path=text))
        s.append(log.Summary(covers=(Span(1, 1),), text=f"{text}…", reason=text))
    for words in (
        ("show", "last"),
        ("show", "last", "--all"),
        ("sessions",),
        ("rename", "last", "x"),
    ):
        done = run(*words)
        assert done.exit_code == 0, done.stderr
        assert not any(sign in done.stdout for sign in "\x1b\x07\r\0\u202e\x85\x9b")
    assert len(values("show", "last", "--all")) == 3


def test_every_marker_is_a_line() -> None:
    with holdfast.open() as hf:
        s = hf.session()
        s.user("hello")
        pin = s.append(log.Pin(fact="never push to main"))
        for marker in (
            log.Unpin(pin=pin.id), log.Pin(seq=1), log.Checkpoint(prompt=1, label="before"),
            log.Context(sections={"environment": "linux"}), log.Switch(model="m", policy="aider"),
            log.Repair(rule="A12", owner="anthropic"), log.Rewind(to=1, reason="worse"),
            log.Undo(marker=9), log.Redo(marker=9), log.Damaged(reason="gone"),
        ):  # fmt: skip
            s.append(marker)
    shown = run("show", "last", "--all").stdout
    for line in (
        "Pin · never push to main", "Unpin · ends", "Pin · entry 1", "Checkpoint · before 1",
        "Context · environment", "Switch · m · policy aider", "Repair · A12 · anthropic",
        "Rewind · goes on from 1 · worse", "Undo · of 9", "Redo · of 9", "Damaged · gone",
    ):  # fmt: skip
        assert line in shown


def test_a_pipe_gets_long_texts_whole_and_a_terminal_their_beginning() -> None:
    long = "\n".join(f"line {n}" for n in range(1000))
    with holdfast.open() as hf:
        s = hf.session()
        s.user(long)
        s.append(assistant(Text("x" * 5000)))
    piped = run("show", "last").stdout
    assert "line 999" in piped
    assert "x" * 5000 in piped
    screen = run("show", "last", FORCE_COLOR="1").stdout
    assert "line 9" in screen
    assert "line 10" not in screen
    assert "… 990 more lines" in screen
    assert "… 4,200 more characters" in screen
    assert "--full shows them whole" in screen
    assert "line 999" in run("show", "last", "--full", FORCE_COLOR="1").stdout


def test_colours_are_for_terminals_only(worked: str) -> None:
    assert "\x1b[" in run("show", worked, FORCE_COLOR="1", TERM="xterm").stdout
    assert "\x1b" not in run("show", worked, FORCE_COLOR="1", NO_COLOR="1").stdout
    assert "\x1b" not in run("show", worked).stdout


@given(st.lists(st.sampled_from(["\r\n", "\r", "\n", "x"]), max_size=40))
def test_no_chunk_parts_a_line_break(pieces: list[str]) -> None:
    text = "".join(pieces)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(entry_view, "CHUNK", 3)
        found = list(entry_view.chunks(text))
    assert "".join(found) == text
    assert "".join(map(neutral, found)) == neutral(text)
