"""What parts are told apart by: pieces of names, and the paths that calls name."""

import json
from typing import Any

import pytest

from holdfast.core.search.facets import Calls, paths, pieces
from holdfast.model.message import Patch, ToolCall, ToolResult

LOOK_BACK = 64
MOST_PATHS = 64
"""What is promised, in numbers: these tests stand at its edges."""


@pytest.mark.parametrize(
    ("name", "value", "run"),
    [
        ("path", "/home/Me/./src//app.py", ("home", "Me", "src", "app.py")),
        ("path", r"C:\src\app.py", ("C:", "src", "app.py")),
        ("model", "anthropic/Claude-Opus-4.1@20250805", ("anthropic", "claude", "opus", "4", "1",
                                                        "20250805")),
        ("tool", "mcp__github__create_issue", ("mcp", "github", "create_issue")),
        ("agent", "Claude-Code", ("claude-code",)),
    ],
)  # fmt: skip
def test_names_are_taken_apart(name: str, value: str, run: tuple[str, ...]) -> None:
    assert pieces(name, value) == run


@pytest.mark.parametrize(
    ("input", "found"),
    [
        ({"file_path": "a b/notes"}, ("a b/notes",)),
        ({"edits": [{"path": "x.py"}, {"path": "y.py"}]}, ("x.py", "y.py")),
        ({"files": ["one", {"path": "two"}]}, ("one", "two")),
        ({"command": "cd /srv/app && pytest tests/test_x.py -q"}, ("/srv/app", "tests/test_x.py")),
        ({"uri": "file:///etc/hosts"}, ("/etc/hosts",)),
        ({"text": "no path at all"}, ()),
    ],
)
def test_a_call_names_paths(input: Any, found: tuple[str, ...]) -> None:
    assert paths(ToolCall("c", "t", json.dumps(input)))[: len(found)] == found


def test_what_is_no_json_is_read_as_it_is() -> None:
    assert paths(ToolCall("c", "open", "src/app.py")) == ("src/app.py",)
    assert paths(ToolCall("c", "apply_patch", "*** Update File: src/app.py\n")) == ("src/app.py",)


def test_a_call_names_so_many_paths_at_most() -> None:
    many = json.dumps({"files": [f"f{n}" for n in range(500)]})
    assert len(paths(ToolCall("c", "t", many))) == MOST_PATHS
    assert len(Calls().used(1, Patch("", tuple(map(str, range(500))))).paths) == MOST_PATHS


def test_a_result_belongs_to_the_nearest_call_before_it() -> None:
    calls = Calls()
    calls.used(1, ToolCall("c", "read", '{"path": "a"}'))
    calls.used(2, ToolCall("c", "grep", '{"path": "b"}'))
    near = calls.used(2 + LOOK_BACK, ToolResult("c", "x"))
    assert (near.tool, near.paths) == ("grep", ("b",))
    far = calls.used(3 + LOOK_BACK, ToolResult("c", "x", name="own"))
    assert (far.tool, far.paths) == ("own", ())
