"""Notes as files, their index within its bounds, and the manifest that an extraction is given."""

from __future__ import annotations

import pytest

from holdfast.core.knowledge.notes import (
    HEAD_LINES,
    INDEX,
    INDEX_BYTES,
    INDEX_LINES,
    LARGEST,
    LINE,
    MOST_FILES,
    Known,
    bounded,
    check_file,
    check_type,
    file_name,
    head,
    index,
    is_named_by_type,
    manifest,
    pointed,
    pointer,
    read_note,
    write_note,
)
from holdfast.errors import InvalidRequest
from holdfast.model.note import NOTE_TYPES, Note


def note(file: str = "user_role.md", **more: str) -> Note:
    told = {"name": "role", "description": "a staff engineer", "type": "user", "body": "text"}
    return Note(**{**told, "file": file, **more})  # type: ignore[arg-type]


@pytest.mark.seed("004", 99, 100, 101, 102, 103)
@pytest.mark.parametrize("type", NOTE_TYPES)
def test_a_note_is_read_as_it_was_written(type: str) -> None:
    made = note(f"{type}_x.md", type=type, description='with: "quotes" and # marks', body="a\n\nb")
    text = write_note(made)
    assert text.startswith("---\nname: role\ndescription: ")
    assert f"\ntype: {type}\n---\n" in text
    assert read_note(made.file, text) == made


def test_a_file_that_somebody_wrote_by_hand_is_a_note() -> None:
    found = read_note("feedback_style.md", "# Style\n\nTabs, never blanks.")
    assert (found.type, found.name, found.description) == ("feedback", "style", "Style")
    assert read_note("odd.md", "---\ntype: nonsense\n---\nx").type == "project"


@pytest.mark.seed("004", 104, 140)
def test_a_file_is_named_by_type_and_topic() -> None:
    assert file_name("feedback", "Testing & databases!") == "feedback_testing_databases.md"
    assert file_name("feedback", "testing", ["feedback_testing.md"]) == "feedback_testing_2.md"
    assert file_name("user", "") == "user_note.md"
    assert is_named_by_type("reference_linear_board.md")
    assert not is_named_by_type("2026-11-19.md")


@pytest.mark.parametrize("file", ["../x.md", "a/b.md", "x.txt", INDEX, ".x.md", "", "x.md\0"])
def test_a_name_that_could_lead_elsewhere_is_refused(file: str) -> None:
    with pytest.raises(InvalidRequest):
        check_file(file)


def test_a_type_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="feedback"):
        check_type("diary")


def test_a_secret_and_what_is_hidden_never_reach_a_note() -> None:
    key = "sk-ant-api03-" + "a1B2c3D4" * 10
    text = write_note(note(body=f"the key is {key}", description="a\U000e0041b\u202e"))
    assert key not in text
    assert "\U000e0041" not in text
    assert "\u202e" not in text


def test_a_document_is_no_note() -> None:
    with pytest.raises(InvalidRequest, match="document"):
        write_note(note(body="x" * LARGEST))


@pytest.mark.seed("004", 107, 108, 109)
def test_the_manifest_has_a_line_a_note_the_newest_first() -> None:
    known = [
        Known(file=f"user_{n}.md", modified=1_775_373_631_000 + n, note=note(f"user_{n}.md"))
        for n in range(MOST_FILES + 5)
    ]
    known.append(Known(file=INDEX, modified=9_999_999_999_999, note=note(INDEX)))
    lines = manifest(known).splitlines()
    assert len(lines) <= MOST_FILES == 200
    assert lines[0] == "- [user] user_204.md (2026-04-05T07:20:31.204Z): a staff engineer"
    assert INDEX not in manifest(known[:3] + known[-1:])
    assert len(head("x\n" * 99).splitlines()) == HEAD_LINES == 30


@pytest.mark.seed("004", 97, 111, 139)
def test_the_index_follows_the_notes_a_pointer_a_line() -> None:
    notes = {one.file: one for one in (note(), note("project_x.md", description="y " * 200))}
    made = index("", notes)
    lines = made.splitlines()
    assert lines[1] == "- [role](user_role.md) — a staff engineer"
    assert all(len(line) <= LINE < 150 for line in lines)
    assert pointed(made) == ["project_x.md", "user_role.md"]
    assert index(made, {}) == ""


def test_a_line_that_a_person_wrote_stays_while_its_note_does() -> None:
    before = "# My notes\n- [role](user_role.md) — in my own words\n- [gone](gone.md) — x\n"
    assert index(before, {"user_role.md": note()}) == (
        "# My notes\n- [role](user_role.md) — in my own words\n"
    )
    anew = index(before, {"user_role.md": note()}, changed=["user_role.md"])
    assert "a staff engineer" in anew


@pytest.mark.seed("000", 107, 163, 188)
@pytest.mark.seed("004", 130)
def test_an_index_is_never_cut_in_silence() -> None:
    notes = {f"user_{n:04}.md": note(f"user_{n:04}.md") for n in range(400)}
    made = index("", notes)
    assert len(made.splitlines()) == INDEX_LINES == 200
    assert made.splitlines()[-1].startswith("[… and 201 more notes; ")
    assert len(index(made, notes).splitlines()) == INDEX_LINES
    wide = bounded("\n".join("é" * 140 for _ in range(150)))
    assert len(wide.encode()) <= INDEX_BYTES == 25_000
    assert "more notes" in wide
    assert bounded("a\nb") == "a\nb\n"


def test_what_points_nowhere_else_is_a_pointer() -> None:
    assert pointer(note(name="a [b] c")) == "- [a (b) c](user_role.md) — a staff engineer"
