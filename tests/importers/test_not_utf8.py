"""Lines that are not UTF-8: read all the same, told with their number, kept byte for byte."""

from __future__ import annotations

from pathlib import Path

import holdfast
from holdfast.engine.client import Holdfast
from tests.importers import copilot_writing, gemini_writing, opencode_writing, pi_writing, rollouts
from tests.importers.looking import bring, only, parts, words
from tests.importers.writing import Transcript

TEXT = "Schließe das Café – “bald” 漢字."
WESTERN = {"ß": b"\xdf", "é": b"\xe9", "–": b"\x96", "“": b"\x93", "”": b"\x94"}
"""The letters of it that Windows-1252 has, as one byte each."""


def written(directory: Path) -> dict[str, Path]:
    """A file of each program that says the text."""
    claude, codex, pi = Transcript(), rollouts.Rollout(), pi_writing.Story()
    gemini, copilot, talk = gemini_writing.Chat(), copilot_writing.Story(), opencode_writing.Talk()
    gemini.user("u1", TEXT)
    codex.turn(TEXT, "Yes.")
    for one in (claude, pi, copilot, talk):
        one.user(TEXT)
    aider = directory / "a" / ".aider.chat.history.md"
    for name in "api":
        (directory / name).mkdir(parents=True)
    aider.write_text(f"# aider chat started at 2026-03-01 10:00:00\n\n#### {TEXT}\n\nYes.\n")
    return {
        "claude-code": claude.write(directory / "c"),
        "codex": codex.write(directory / "x"),
        "gemini-cli": gemini.write(directory / "g"),
        "gemini document": gemini.document(directory / "d"),
        "opencode": talk.export(directory / "o"),
        "copilot-cli": copilot.write(directory / "p"),
        "pi": pi.write(directory / "i"),
        "aider": aider,
    }


def test_every_letter_comes_back_and_the_line_is_told(tmp_path: Path) -> None:
    for name, path in written(tmp_path / "t").items():
        data = path.read_bytes()
        for letter, byte in WESTERN.items():
            escaped = f"\\u{ord(letter):04x}".encode()
            data = data.replace(letter.encode(), byte).replace(escaped, byte)
        path.write_bytes(data)
        with holdfast.open(tmp_path / f"{name}.db") as hf:
            (report,) = bring(hf, path)
            assert TEXT in "".join(words(only(hf))), name
            told = [one for one in report.problems if one.what.startswith("is not UTF-8")]
            assert told, name
            assert all(one.line for one in told), name
            kept = b"\n".join(getattr(part, "data", b"") for part in parts(only(hf)))
            assert b"Schlie\xdfe das Caf\xe9 \x96 \x93bald\x94" in kept, name


def test_a_line_that_is_damaged_besides_is_kept_as_it_is(hf: Holdfast, tmp_path: Path) -> None:
    told = Transcript()
    told.user("Mend the roof.")
    path = told.write(tmp_path)
    path.write_bytes(path.read_bytes() + b'{"type":"user","text":"Caf\xe9\n')
    (report,) = bring(hf, path)
    assert [one.what.split(":")[0] for one in report.problems] == ["is no JSON"]
    assert [part.data for part in parts(only(hf)) if getattr(part, "type", "") == "damaged"] == [
        b'{"type":"user","text":"Caf\xe9'
    ]
