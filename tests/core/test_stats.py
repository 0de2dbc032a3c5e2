"""The sums of statistics, against numbers that were worked out by hand."""

from __future__ import annotations

from typing import Any

from holdfast.core.stats import Looking, Stats, Tally
from holdfast.core.tokens.estimate import estimate
from holdfast.model.log import Body, Clear, Entry, Folded, PartRef, Rewind, SessionInfo, Summary
from holdfast.model.message import (
    Message,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    assistant,
    tool,
    user,
)
from holdfast.model.reply import Spent, Usage
from holdfast.model.span import EVERYTHING, OPEN, Span

MODEL = "m"


class Told:
    """A session, entry by entry."""

    def __init__(self, since: int = 0, largest: int = 0, **fields: Any) -> None:
        self.session = SessionInfo(
            id="s", created=0, model=MODEL, head=1_000, updated=1_000, **fields
        )
        windows = {"m": 1_000, "other": 500, "large": 1_000_000, "large[1m]": 1_000_000}
        self.looking = Looking(self.session, windows.__getitem__, since, largest)
        self.seq = 0

    def add(self, body: Body, *counts: int, model: str = "", created: int = 0) -> int:
        self.seq += 1
        entry = Entry(id=f"e{self.seq}", session="s", seq=self.seq, body=body, counts=counts,
                      created=created or self.seq, model=model)  # fmt: skip
        self.looking.feed(entry)
        return self.seq

    def read(self, path: str, count: int = 10, *, error: bool = False, **part: int) -> None:
        given = "".join(f', "{name}": {value}' for name, value in part.items())
        id = f"c{self.seq}"
        self.add(assistant(ToolCall(id, "Read", f'{{"file_path": "{path}"{given}}}')), 1)
        self.add(tool(ToolResult(id, "…", error=error)), count)

    def stats(self) -> dict[str, Stats]:
        self.looking.finish()
        made: dict[str, Stats] = {}
        for model, seen in self.looking.seen.items():
            tally = Tally(model)
            tally.saw("s", seen)
            made[model] = tally.stats()
        return made


def test_what_fills_a_window_is_told_by_where_it_comes_from() -> None:
    told = Told()
    told.add(Message("user", (Text("ask"), Text("told", scaffold="system-reminder"))), 3, 4)
    told.add(assistant(Reasoning("hm"), Text("so"), ToolCall("a", "Bash", "{}")), 5, 6, 7)
    told.add(tool(ToolResult("a", "out"), ToolResult("nobody", "lost")), 8, 9)
    (found,) = told.stats().values()
    assert found.filled == {
        "Bash": 15, "unknown tool": 9, "model": 6, "thinking": 5, "context": 4, "user": 3,
    }  # fmt: skip
    assert found.compactions == ()


def test_at_a_compaction_only_what_stands_fills_the_window() -> None:
    told = Told()
    told.add(user("one"), 100)
    told.add(user("two"), 200)
    first = Folded(visible=EVERYTHING)
    at = told.add(Summary(covers=(Span(1, 2),), text="short", folded=first, kept=(2,)))
    told.add(user("three"), 400)
    told.add(assistant(ToolCall("a", "Bash", "{}")), 50)
    told.add(tool(ToolResult("a", "gone")), 8_000)
    cleared = (PartRef(6, 0),)
    told.add(Clear(parts=cleared))
    then = Folded(visible=(Span(4, OPEN),), kept=(2,), summaries=(at,), cleared=cleared)
    told.add(Summary(covers=(Span(1, 7),), text="shorter", folded=then, prompt_before=900,
                     trigger="manual"))  # fmt: skip
    told.add(user("behind it"), 5_000)
    (found,) = told.stats().values()
    assert [(c.seq, c.tokens, c.share, c.trigger) for c in found.compactions] == [
        (3, 300, 0.3, "auto"), (8, 900, 0.9, "manual"),
    ]  # fmt: skip
    assert found.filled == {"user": 300 + 600, "Bash": 50, "summary": estimate("short")}


def test_a_session_that_was_rewound_holds_what_was_left() -> None:
    told = Told()
    told.add(user("one"), 10)
    told.add(user("taken back"), 20)
    told.add(Rewind(to=1))
    told.add(user("three"), 40)
    (found,) = told.stats().values()
    assert found.filled == {"user": 50}


def test_the_same_part_of_a_file_is_read_again() -> None:
    told = Told()
    told.read("a.py")
    told.read("a.py", offset=100)
    told.read("a.py")
    told.read("b.py", error=True)
    told.read("b.py")
    told.add(Summary(covers=(Span(1, told.seq),), text="."))
    told.read("b.py")
    told.read("a.py")
    told.read("a.py")
    (found,) = told.stats().values()
    assert (found.reads, found.again, found.after) == (7, 4, 2)
    assert found.files == {"a.py": 3, "b.py": 1}


def test_each_model_has_its_own() -> None:
    told = Told()
    told.add(assistant("one"), 10, model="other")
    told.add(Summary(covers=(Span(1, 1),), text=".", prompt_before=250))
    told.add(assistant("two"), 10, model=MODEL)
    told.add(Summary(covers=(Span(1, 3),), text=".", prompt_before=250))
    shares = {name: [c.share for c in one.compactions] for name, one in told.stats().items()}
    assert shares == {"other": [0.5], MODEL: [0.25]}


def test_what_a_fork_shares_and_what_is_too_old_fills_but_is_not_counted() -> None:
    for fields in ({"fork": 3}, {"since": 4}):
        told = Told(**fields)
        told.read("a.py", 10)
        told.add(Summary(covers=(Span(1, 1),), text="."))
        told.read("a.py", 20)
        told.add(Summary(covers=(Span(1, 5),), text=".", folded=Folded(visible=EVERYTHING)))
        (found,) = told.stats().values()
        assert (found.reads, found.again, len(found.compactions)) == (1, 1, 1)
        assert found.filled == {"Read": 32}


def test_sums_of_calls() -> None:
    tally = Tally("g")
    one = Usage(input=10, cache_read=60, cache_write=30, output=5)
    tally.spent("s", Spent(calls=2, cost=7, usage=one))
    tally.spent("s", Spent(calls=1, unpriced=1, usage=Usage(input=100, cache_read=40)))
    tally.spent("t", Spent(calls=1, cost=1))
    made = tally.stats()
    assert (made.sessions, made.calls, made.cost, made.unpriced) == (2, 4, 8, 1)
    assert (made.usage.prompt, made.usage.output) == (240, 5)
    assert made.hit_rate == 100 / 240
    assert Tally("nothing").stats().hit_rate is None


def _window(model: str, before: int, window: int = 0, largest: int = 0, agent: str = "") -> int:
    told = Told(largest=largest, agent=agent)
    told.add(assistant("said"), 5, model=model)
    told.add(Summary(covers=EVERYTHING, text="s", prompt_before=before, window=window))
    (compaction,) = told.stats()[model].compactions
    return compaction.window


def test_a_window_is_as_large_as_its_program_said() -> None:
    assert _window("large", 240_000, window=258_400, agent="codex") == 258_400
    assert _window("large", 240_000, agent="codex") == 1_000_000


def test_claude_code_uses_a_part_of_a_larger_window_unless_it_is_seen_to_use_more() -> None:
    assert _window("large", 160_000, agent="claude-code") == 200_000
    assert _window("m", 900, agent="claude-code") == 1_000
    assert _window("large", 160_000, agent="claude-code", largest=300_000) == 1_000_000
    assert _window("large", 300_000, agent="claude-code") == 1_000_000
    assert _window("large[1m]", 160_000, agent="claude-code") == 1_000_000
    assert _window("large", 160_000) == 1_000_000
