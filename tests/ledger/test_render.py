"""The ledger as text: what matters first, within its budget, honest about what is left out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.ledger.build import ledger
from holdfast.core.ledger.checks.retention import retention
from holdfast.core.ledger.render import SECTIONS, render
from holdfast.core.tokens.estimate import estimate
from holdfast.model.ledger import Ledger
from holdfast.model.log import Rewind
from holdfast.model.message import assistant
from holdfast.model.span import Span
from tests.ledger.saying import asked, done, ran, said, used

CREATED = "File created successfully at: src/a.py"
LAUNCHED = "Async agent launched successfully.\nagentId: a1"


def log() -> list[object]:
    return [
        asked("Write src/a.py. Never use tabs."),
        *used("Write", {"file_path": "src/a.py", "content": "x = 1\n"}, CREATED),
        *used("Read", {"file_path": "src/b.py"}, "1\tx"),
        *ran("make test", 2, "boom"),
        *ran("make lint", 0),
        *used("TodoWrite", {"todos": [{"content": "tidy up", "status": "in_progress"}]}, "ok"),
        *used("Task", {"description": "look for leaks"}, LAUNCHED),
        done("Decision: keep `plain_text`."),
        asked("No, that's wrong: it should have been src/c.py"),
    ]


def known() -> Ledger:
    return ledger(said(*log()))  # type: ignore[arg-type]


WHOLE = """\
Open requests:
- No, that's wrong: it should have been src/c.py #15
Constraints:
- Never use tabs. (as the words suggest) #1
Corrections:
- No, that's wrong: it should have been src/c.py (as the words suggest) #15
Files changed:
- src/a.py (created, 1 lines, sha256 9e26bf369911) #3
Commands that failed:
- make test → failed, exit 2 #6
Plan:
- [in_progress] tidy up #10
Subtasks running:
- look for leaks #12
Problems not resolved:
- shell_command make test: boom #7
Decisions:
- keep `plain_text`. #14
Requests answered:
- Write src/a.py. Never use tabs. #1
Files read:
- src/b.py (1 lines) #5
Commands:
- make lint → succeeded, exit 0 #8
Identifiers:
- plain_text #14"""


def test_a_ledger_with_room_tells_everything() -> None:
    assert render(known(), 2000).splitlines() == WHOLE.splitlines()


def test_every_section_is_in_the_picture() -> None:
    shown = [line.rstrip(":") for line in WHOLE.splitlines() if line.endswith(":")]
    assert shown == [title for title, _ in SECTIONS if title != "Interrupted requests"]


@given(st.integers(0, 400))
def test_no_budget_is_ever_exceeded(budget: int) -> None:
    assert estimate(render(known(), budget)) <= budget


def test_what_matters_most_stays_longest() -> None:
    text = render(known(), 90)
    assert text.startswith("Open requests:\n- No, that's wrong")
    assert text.endswith("items.")
    assert "identifiers 1" in render(known(), 200)


def test_a_long_request_is_cut_and_says_so() -> None:
    text = render(ledger(said(asked("word " * 5000))), 200)
    assert "characters more #1" in text
    assert estimate(text) <= 200


def test_what_a_rewind_took_back_is_not_told() -> None:
    gone = ledger(said(*log(), Rewind(to=0)))  # type: ignore[arg-type]
    text = render(gone, 2000)
    assert "Never use tabs" not in text
    assert "src/a.py" in text


def test_an_empty_ledger_is_an_empty_text() -> None:
    assert render(Ledger(), 100) == ""


def states(text: str, *visible: Span) -> dict[tuple[str, str], str]:
    report = retention(known(), text, visible)
    return {(one.kind, one.text): one.state for one in report.items}


def test_the_ledger_itself_retains_everything() -> None:
    assert set(states(WHOLE).values()) == {"retained"}


def test_what_a_summary_leaves_out_is_missing() -> None:
    told = states("Nothing was said.")
    assert told["file", "src/a.py"] == "missing"
    assert told["command", "make lint"] == "missing"
    assert told["constraint", "Never use tabs."] == "missing"


def test_what_is_named_by_its_place_is_recoverable() -> None:
    told = states("The rest can be recalled: #1–#9.")
    assert told["file", "src/a.py"] == "recoverable"
    assert told["command", "make lint"] == "recoverable"
    assert told["decision", "keep `plain_text`."] == "missing"
    assert (
        states("see e15")["request", "No, that's wrong: it should have been src/c.py"]
        == "recoverable"
    )


def test_what_stays_visible_is_retained() -> None:
    assert states("", Span(1, 20))["file", "src/a.py"] == "retained"


def test_what_a_summary_contradicts_is_changed() -> None:
    told = states("`make test` passed, `make lint` passed. Deleted src/a.py.")
    assert told["command", "make test"] == "changed"
    assert told["command", "make lint"] == "retained"
    assert told["file", "src/a.py"] == "changed"


def test_other_words_retain_a_request_but_not_a_path() -> None:
    told = states("The user wants a.py written without tabs, never with them, in src.")
    assert told["request", "Write src/a.py. Never use tabs."] == "retained"
    assert told["file", "src/b.py"] == "missing"


def test_a_report_counts() -> None:
    report = retention(known(), "`make test` passed.")
    assert report.counts["changed"] == 1
    assert sum(report.counts.values()) == len(report.items)


@pytest.mark.parametrize(
    "text", ["", "\x00", "`", "#", "#9999999999999999999999", "\ud800 `a\ud800.py`"]
)
def test_any_text_can_be_held_against_a_ledger(text: str) -> None:
    assert retention(known(), text).items
    assert retention(ledger(said(assistant(text), asked(text + "x"))), text) is not None
