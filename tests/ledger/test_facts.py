"""What a text names and what a command touches, form by form."""

from typing import Any

import pytest

from holdfast.core.ledger.facts.identifiers import found_in, note
from holdfast.core.ledger.facts.shell import command_line, scripted, scripted_patches, touched
from holdfast.model.ledger import Ledger

MOST = 400
SPEECH = 20_000
"""What is promised, in numbers: these tests stand at its edges."""

PATCH = "*** Begin Patch\\n*** Add File: new.py\\n+x\\n*** End Patch"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("see https://a.b/c?d=1, then", [("https://a.b/c?d=1", "url")]),
        ("run `make test` now", [("make test", "code")]),
        ("at 3f2a9b1 it broke", [("3f2a9b1", "hash")]), ("at 3f2a9b it broke", []),
        ("1234567 and abcdefa", []), ("fixes #42", [("#42", "issue")]),
        ("see PR #7 and GH-12", [("PR #7", "issue"), ("GH-12", "key")]),
        ("ABC-123 is open", [("ABC-123", "key")]), ("A-1", []),
        ("set MAX_SIZE to 3", [("MAX_SIZE", "setting")]), ("MAXSIZE", []),
        ("call parse_line or parseLine or ParseLine",
         [("parse_line", "name"), ("parseLine", "name"), ("ParseLine", "name")]),
        ("plain Words here", []),
        ("from v1.2.3-rc.1 to 2.0.0 but not 2.0",
         [("v1.2.3-rc.1", "version"), ("2.0.0", "version")]),
        ("`a_b` once", [("a_b", "code")]), ("", []),
    ],
)  # fmt: skip
def test_an_identifier_is_known_by_its_shape(text: str, found: list[tuple[str, str]]) -> None:
    assert list(found_in(text)) == found


def test_an_identifier_is_counted_and_placed_where_it_was_used_last() -> None:
    known = note(note(note(Ledger(), 1, "fix ABC-1 and ABC-2"), 2, "nothing"), 3, "ABC-1 again")
    told = {one.text: (one.seq, one.uses, one.inferred) for one in known.identifiers.values()}
    assert told["ABC-1"][0] == 3
    assert told["ABC-2"][0] == 1
    assert told["ABC-1"][1] == told["ABC-2"][1] + 1
    assert {rule for *_, rule in told.values()} == {"key"}


def test_only_so_many_are_kept_and_those_used_once_and_long_ago_leave_first() -> None:
    known = note(note(Ledger(), 1, "ABC-1 ABC-2"), 2, "ABC-1")
    known = note(known, 3, " ".join(f"DEF-{n}" for n in range(MOST - 1)))
    assert len(known.identifiers) == MOST
    assert "ABC-1" in known.identifiers
    assert "ABC-2" not in known.identifiers
    assert "DEF-0" in known.identifiers


def test_only_the_beginning_of_a_long_text_is_read() -> None:
    within = "x" * (SPEECH - 6) + " ABC-1"
    assert "ABC-1" in note(Ledger(), 1, within).identifiers
    assert "ABC-1" not in note(Ledger(), 1, "x" * SPEECH + " ABC-1").identifiers


@pytest.mark.parametrize(
    ("command", "touches"),
    [
        ("touch a.py b.py", [("a.py", "written"), ("b.py", "written")]),
        ("rm a.py", [("a.py", "deleted")]),
        ("rm -rf build a", [("build", "deleted"), ("a", "deleted")]),
        ("git rm --cached a.py", [("a.py", "deleted")]), ("git status", []), ("rm", []),
        ("mv a.py b.py", [("a.py", "deleted"), ("b.py", "written")]),
        ("git mv a.py b.py", [("a.py", "deleted"), ("b.py", "written")]),
        ("mv a.py dir/", []), ("mv a.py .", []), ("mv a b c", []),
        ("cp a.py b.py", [("b.py", "written")]), ("cp a.py dir/", []), ("cp a b c", []),
        ("mkdir -p a", []), ("cd src && rm a.py", [("src/a.py", "deleted")]),
        ("mkdir a && touch a/b", [("a/b", "written")]), ("rm a.py && make", []),
        ("rm *.py", []), ("rm $X", []), ("rm 'a b'", []), ("rm a; make", []), ("ls", []), ("", []),
    ],
)  # fmt: skip
def test_files_that_a_command_touches_beyond_doubt(
    command: str, touches: list[tuple[str, str]]
) -> None:
    found = touched(command)
    assert [(one.path, one.change) for one in found] == touches
    assert {one.inferred for one in found} <= {"shell-verb"}


@pytest.mark.parametrize(
    ("value", "line"),
    [
        ("ls -l", "ls -l"), (["ls", "a b"], "ls 'a b'"), (["bash", "-lc", "ls | wc"], "ls | wc"),
        (["/bin/zsh", "-c", "ls"], "ls"), (["sh", "-ic", "ls"], "ls"),
        (["bash", "-x", "ls"], "bash -x ls"),
        (["bash", "-c", "ls", "a"], "bash -c ls a"), (["python", "-c", "1"], "python -c 1"),
        (None, ""), (7, ""), ([], ""), (["echo", 7], "echo 7"),
    ],
)  # fmt: skip
def test_a_command_is_read_without_what_wraps_it(value: Any, line: str) -> None:
    assert command_line(value) == line


def test_a_script_hands_on_what_it_spells_out() -> None:
    assert scripted('tools.exec_command({"cmd": "ls -l"})') == ["ls -l"]
    two = 'tools.exec_command({cmd: "a"}); tools.exec_command({ "cmd" : "b \\"c\\"" })'
    assert scripted(two) == ["a", 'b "c"']
    assert scripted("tools.exec_command({cmd: made})") == ["tools.exec_command({cmd: made})"]
    assert scripted("print(1)") == []
    patches = scripted_patches(f'tools.apply_patch("{PATCH}")')
    assert [(one.path, one.inferred) for one in patches] == [("new.py", "patch-in-script")]
    assert scripted_patches(f'other("{PATCH}")') == []
