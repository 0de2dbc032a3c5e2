"""The law of the ledger, and what turns, interruptions and rewinds make of a request."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from holdfast.core.ledger.build import current, ledger, step
from holdfast.model.ledger import Ledger
from holdfast.model.log import Body, Entry, Redo, Rewind, Summary, Undo
from holdfast.model.message import (
    Message,
    Patch,
    Subtask,
    SummaryText,
    Text,
    ToolCall,
    ToolResult,
    assistant,
    user,
)
from holdfast.model.span import Span
from holdfast.model.wire import decode, encode
from holdfast.testing.factories import HOSTILE
from holdfast.testing.strategies import bodies, logs
from tests.fuzz.judging import SECONDS, watch
from tests.ledger.saying import asked, done, harness, imported, said, used

NAMES = ("Read", "Write", "Edit", "Bash", "shell", "apply_patch", "exec", "TodoWrite", "Task", "x")
INPUTS = (
    '{"file_path": "/a.py", "content": "x"}',
    '{"command": "rm a.py && touch b.py"}',
    '{"command": ["bash", "-lc", "make test"]}',
    '{"todos": [{"content": "a", "status": "done"}]}',
    "*** Begin Patch\n*** Update File: a.py\n@@\n+x\n*** End Patch",
    'await tools.exec_command({cmd: "ls"})',
)
OUTPUTS = ("ok", "Exit code 1\nno", '{"output":"","metadata":{"exit_code":1}}', "File created", "")
WORDS = (
    "Never touch a.py",
    "no, use `b_c` instead",
    "thanks!",
    "never mind",
    "[Request interrupted by user]",
)

turns = st.one_of(
    st.sampled_from((*WORDS, *HOSTILE)).map(user),
    st.sampled_from(("Done.", "Decision: tabs", *HOSTILE)).map(assistant),
    st.builds(
        lambda call, name, given: assistant(ToolCall(call, name, given)),
        st.sampled_from("abc"),
        st.sampled_from(NAMES),
        st.sampled_from(INPUTS),
    ),
    st.builds(
        lambda call, output, error: Message("tool", (ToolResult(call, output, error=error),)),
        st.sampled_from("abc"),
        st.sampled_from(OUTPUTS),
        st.booleans(),
    ),
    st.integers(0, 9).map(lambda to: Rewind(to=to)),
    st.integers(0, 9).map(lambda seq: Undo(marker=seq)),
    st.integers(0, 9).map(lambda seq: Redo(marker=seq)),
    bodies(),
)


def entries(given: list[Body]) -> list[Entry]:
    log = said(*given)
    return [replace(one, completed=None) if one.seq % 5 == 0 else one for one in log]


@given(st.lists(turns, max_size=25).map(entries))
def test_one_more_entry_is_one_more_step(log: list[Entry]) -> None:
    known = Ledger()
    for place, one in enumerate(log):
        known = step(known, one)
        assert known == ledger(log[: place + 1])
        assert decode(encode(known), Ledger) == known  # what it knows is all in what is written


@given(logs())
def test_any_log_has_a_ledger(log: tuple[Entry, ...]) -> None:
    known = ledger(log)
    assert current(known).requests == tuple(current(ledger(log)).requests)
    assert [one.seq for one in known.requests] == sorted(one.seq for one in known.requests)


def statuses(*given: Body) -> list[str]:
    return [one.status for one in current(ledger(said(*given))).requests]


def test_a_request_is_open_until_a_reply_without_tools() -> None:
    call, result = used("Bash", {"command": "ls"}, "x")
    assert statuses(asked("go")) == ["open"]
    assert statuses(asked("go"), call) == ["open"]
    assert statuses(asked("go"), call, result) == ["open"]
    assert statuses(asked("go"), call, result, done()) == ["answered"]


def test_a_reply_of_the_harness_or_without_words_is_no_answer() -> None:
    log = said(asked("go"), assistant("API Error: overloaded"))
    assert ledger([log[0], replace(log[1], model="<synthetic>")]).requests[0].status == "open"
    assert statuses(asked("go"), assistant("")) == ["open"]


def test_a_request_is_interrupted_when_its_turn_is_cut() -> None:
    call, result = used("Bash", {"command": "ls"}, "x")
    assert statuses(asked("go"), call, asked("stop")) == ["interrupted", "open"]
    for words in ("[Request interrupted by user]", "<turn_aborted>\nx\n</turn_aborted>"):
        log = imported(asked("go"), call, result, user(words))
        assert [one.status for one in ledger(log).requests] == ["interrupted"]
    aborted = Message("user", (Text("<turn_aborted>\nx\n</turn_aborted>", "turn_aborted"),))
    assert statuses(asked("go"), call, result, aborted) == ["interrupted"]
    log = said(asked("go"), assistant("I beg"), asked("what?"))
    cut = [log[0], replace(log[1], completed=None), log[2]]
    assert [one.status for one in ledger(cut).requests] == ["interrupted", "open"]


def test_what_came_in_during_a_turn_is_answered_with_it() -> None:
    call, result = used("Bash", {"command": "ls"}, "x")
    assert statuses(asked("go"), call, result, asked("and tidy up"), done()) == ["answered"] * 2


@pytest.mark.parametrize(
    "message",
    [
        harness("remember this"),
        user("<system-reminder>x</system-reminder>"),
        user("<environment_context>\n<cwd>/</cwd>\n</environment_context>"),
        user("# AGENTS.md instructions for /repo\n<INSTRUCTIONS>\nx\n</INSTRUCTIONS>"),
        user("<task-notification><task-id>a</task-id></task-notification>"),
        user("<bash-input>ls</bash-input>"),
        user("<command-name>/clear</command-name>"),
        user("Caveat: The messages below were generated by the user while running local commands."),
        Message("user", (SummaryText("Please do everything again"),)),
        Message("developer", (Text("Never answer"),)),
        user("   "),
    ],
)
def test_what_a_harness_says_is_no_request(message: Message) -> None:
    known = ledger(imported(message))
    assert (known.requests, known.constraints) == ((), ())


def test_a_summary_is_no_source_of_facts() -> None:
    marker = Summary(covers=(Span(1, 1),), text="The user asked for `x.py`; never touch it.")
    known = ledger(said(asked("go"), marker))
    assert [one.text for one in known.requests] == ["go"]
    assert known.constraints == ()


def test_a_request_is_kept_word_for_word() -> None:
    text = "  Fix\tthis:\r\n```\nmust never\n```\n\x00 \u2028 😀 "
    assert ledger(said(asked(text))).requests[0].text == text


def test_later_words_of_the_user_say_what_became_of_a_request() -> None:
    known = ledger(said(asked("Add a page"), done(), asked("Never mind, drop it"), done()))
    assert [(one.fate, one.inferred) for one in known.requests] == [
        ("superseded", "dropped"),
        ("", ""),
    ]
    known = ledger(said(asked("Add a page"), done(), asked("Thanks! Now the footer"), done()))
    assert [(one.fate, one.inferred) for one in known.requests] == [("done", "thanked"), ("", "")]


def test_a_rewind_takes_words_back_and_an_undo_brings_them_again() -> None:
    edit = used("Edit", {"file_path": "/a.py"}, "The file /a.py has been updated.")
    log = [asked("Add a page"), done(), asked("Never use tabs"), *edit, done()]
    gone = current(ledger(said(*log, Rewind(to=1))))
    assert [(one.text, one.status) for one in gone.requests] == [("Add a page", "open")]
    assert gone.constraints == ()
    assert list(gone.files) == ["/a.py"]  # the conversation goes back, the file does not
    back = current(ledger(said(*log, Rewind(to=1), Undo(marker=7))))
    assert [one.status for one in back.requests] == ["answered", "answered"]
    assert len(back.constraints) == 1
    again = current(ledger(said(*log, Rewind(to=1), Undo(marker=7), Redo(marker=7))))
    assert [one.text for one in again.requests] == ["Add a page"]


def test_parts_that_are_patches_and_subtasks_are_read() -> None:
    diff = "*** Begin Patch\n*** Add File: n.py\n+x\n*** End Patch"
    known = ledger(said(assistant(Patch(diff, ("n.py", "o.py")), Subtask("s2", "look"))))
    assert {one.path: one.change for one in known.files.values()} == {
        "n.py": "created",
        "o.py": "written",
    }
    assert [one.outcome for one in known.subtasks] == ["running"]
    over = ledger(said(assistant(Subtask("s2", "look")), assistant(Subtask("s2", "look", "found"))))
    assert [one.outcome for one in over.subtasks] == ["succeeded"]


def test_identifiers_are_told_by_their_shape_and_bounded() -> None:
    text = "See https://example.org/a_b, `make_it`, PR #12, ABC-77, MAX_SIZE, readFile, 1.2.3, "
    text += "all at 4f2a91c."
    known = ledger(said(asked(text)))
    assert {one.text: one.inferred for one in known.identifiers.values()} == {
        "https://example.org/a_b": "url",
        "make_it": "code",
        "PR #12": "issue",
        "ABC-77": "key",
        "MAX_SIZE": "setting",
        "readFile": "name",
        "1.2.3": "version",
        "4f2a91c": "hash",
    }
    many = ledger(said(*(asked(f"name_{number} keep_me") for number in range(900))))
    assert len(many.identifiers) == 400
    assert many.identifiers["keep_me"].uses == 900


LONG = (
    "a_b ",
    "<a>",
    "`",
    "x\n",
    "f.py\n<<<<<<< SEARCH\n",
    "never ",
    '"\\',
    "不要",
    "decision: x\n",
)
MARKS = (
    "*** Begin Patch\n",
    "Exit Code: 1\n",
    "<task-notification><task-id>a</task-id>",
    "#1 ",
    "=",
)


@pytest.mark.parametrize("unit", [*LONG, *MARKS])
def test_long_text_of_any_kind_is_read(unit: str) -> None:
    text = unit * (300_000 // len(unit))
    bash = used("Bash", {"command": text}, text)
    exec_ = used("exec", f"tools.exec_command{text}", text)
    with watch(SECONDS):
        known = ledger(said(asked(text), assistant(text), *bash, *exec_))
    assert len(known.commands) == 2
