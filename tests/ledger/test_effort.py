"""Lines added and removed, and active time: from the log alone, for every agent's tools."""

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.ledger.build import ledger
from holdfast.core.ledger.facts.effort import Lines, changed, replaced
from holdfast.model.ledger import Effort
from holdfast.model.log import Entry
from holdfast.model.message import Message, Patch, ToolCall, ToolResult, assistant, tool, user
from holdfast.testing.factories import NOON, entry

PAUSE = 300_000
"""What is promised, in numbers: these tests stand at its edges."""

PATCH = """*** Begin Patch
*** Update File: a.py
@@
 same
-old
+new
+newer
*** End Patch
"""
BLOCK = "a.py\n<<<<<<< SEARCH\none\ntwo\n=======\none\n2\nthree\n>>>>>>> REPLACE\n"
WHOLE = re.compile(
    r"^[ \t]*<{5,9} SEARCH[^\n]*\n(.*?)^[ \t]*={5,9}[ \t]*\n(.*?)^[ \t]*>{5,9} REPLACE",
    re.MULTILINE | re.DOTALL,
)
MARKS = (
    "<<<<<<< SEARCH\n",
    "  <<<<< SEARCH of\n",
    "=======\n",
    "a",
    "b\n",
    ">>>>>>> REPLACE",
    "\n",
)


def done(name: str, input: Any, output: str = "ok", *, error: bool = False) -> list[Entry]:
    told = input if isinstance(input, str) else json.dumps(input)
    return [
        entry(1, assistant(ToolCall("c", name, told))),
        entry(2, tool(ToolResult("c", output, error, name))),
    ]


@pytest.mark.parametrize(
    ("name", "input", "output", "lines"),
    [
        ("Write", {"file_path": "a", "content": "1\n2\n3\n"}, "File created", (3, 0)),
        ("write", {"path": "a", "content": "1\n2\n"}, "replaced a (2 lines, +1 -4 lines)", (1, 4)),
        ("Edit", {"file_path": "a", "old_string": "x\ny", "new_string": "x\nz\nw"}, "ok", (2, 1)),
        ("replace", {"file_path": "a", "old_string": "x", "new_string": ""}, "ok", (0, 1)),
        ("edit", {"filePath": "a", "oldString": "x", "newString": "y"}, "ok", (1, 1)),
        (
            "MultiEdit",
            {
                "file_path": "a",
                "edits": [
                    {"old_string": "x", "new_string": "y"},
                    {"old_string": "", "new_string": "z"},
                ],
            },
            "ok",
            (2, 1),
        ),
        ("apply_patch", {"input": PATCH}, "Success. Updated a.py", (2, 1)),
        ("apply_patch", PATCH, "Success. Updated a.py", (2, 1)),
        ("Read", {"file_path": "a"}, "1\n2\n+3 -1 lines", (0, 0)),
        ("unheard_of", {"content": "1\n2"}, "ok", (0, 0)),
        ("Edit", {"file_path": "a", "edits": "nonsense"}, "ok", (0, 0)),
        ("Edit", "not json", "ok", (0, 0)),
    ],
)
def test_what_a_tool_changed(name: str, input: Any, output: str, lines: tuple[int, int]) -> None:
    found = ledger(done(name, input, output)).effort
    assert (found.added, found.removed) == lines


def test_what_failed_changed_nothing() -> None:
    call = {"file_path": "a", "content": "1\n2\n3\n"}
    assert ledger(done("Write", call, "no such directory", error=True)).effort.added == 0


def test_blocks_in_prose_and_patches_of_the_log_count() -> None:
    found = ledger([entry(1, assistant(BLOCK))]).effort
    assert (found.added, found.removed) == (2, 1)
    diff = "--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n-one\n+two\n+three\n"
    part = ledger([entry(1, Message("assistant", (Patch(diff, ("x",)),)))]).effort
    assert (part.added, part.removed) == (2, 1)


def test_time_is_active_where_entries_follow_each_other() -> None:
    times = [0, 1_000, 1_000 + PAUSE, 1_001 + 2 * PAUSE, 500, 3_000 + 2 * PAUSE]
    log = [entry(seq, user("x"), created=NOON + at) for seq, at in enumerate(times, 1)]
    assert ledger(log).effort == Effort(active=1_000 + PAUSE + 1_999, last=NOON + times[-1])


@given(st.lists(st.sampled_from(MARKS), max_size=12).map("".join))
def test_blocks_are_what_their_pattern_finds(text: str) -> None:
    found = [changed(*one) for one in WHOLE.findall(text)]
    wanted = Lines(sum(one.added for one in found), sum(one.removed for one in found))
    assert replaced(text) == wanted
