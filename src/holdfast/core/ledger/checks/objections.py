"""What a summary must not do: say what the log does not bear out, or drop an open request.

Rule 1: a claim about a command is held against all its runs; a claim about how things stand now is
        held against the last one. An unknown outcome contradicts nothing.
Rule 2: a path, command or identifier must stand in the ledger or in the covered text; leaving words
        out is a paraphrase, putting other words in is an invention.
Rule 3: an open request is kept by its own words, by enough of them, or by a sentence that speaks of
        what was asked and shares a word with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from holdfast.core.ledger.build import current
from holdfast.core.ledger.checks import mentions
from holdfast.core.ledger.checks.claims import Said, claimed, spoken_of
from holdfast.core.ledger.checks.matching import is_wide, plain, share, stems
from holdfast.core.ledger.checks.mentions import Known
from holdfast.model.ledger import Command, File, Ledger, Objection, Request
from holdfast.model.span import Spans, within

_SENTENCE = re.compile(r"(?<=[.;!?])\s+(?=[A-Z\W])|[。；！？]|\n+|,? (?:but|while|whereas|aber) ")
_CODE = re.compile(r"`([^`\n]+)`")
_ASKED = re.compile(
    r"\b(?:ask(?:ed|s)?|wants?|wanted|request(?:ed|s)?|open|pending|next|todo|remain(?:s|ing)|left|"
    r"outstanding|task|goal|unfinished|not yet|still|offen|möchte|gewünscht|pendiente|pide|pidió|"
    r"demand\w*|reste|à faire)\b|未完成|待|要求|请求|請求|依頼|希望",
    re.IGNORECASE,
)
_SHORT = 3
"""What is no longer than this claims nothing."""
ENOUGH = 0.4
"""The share of a request's words that a summary in other words keeps."""

_KINDS: tuple[tuple[str, re.Pattern[str], re.Pattern[str]], ...] = (
    (
        "tests",
        re.compile(r"\b(?:all |the |unit |every )*tests?(?: suite)?\b", re.IGNORECASE),
        re.compile(r"\b(?:pytest|unittest|vitest|jest|rspec|tox|nox|ctest|tests?)\b"),
    ),
    (
        "build",
        re.compile(r"\b(?:the )?(?:build|compilation)\b", re.IGNORECASE),
        re.compile(r"\b(?:build|compile|tsc)\b"),
    ),
)
_DELETED = re.compile(
    r"(?:deleted|removed|gelöscht|eliminad[oa]|borrad[oa]|supprimé|删除了?|刪除了?|削除した)\s*"
    r"(?:the |file |datei |le fichier |el archivo )*`?([^\s`，。,]+)`?",
    re.IGNORECASE,
)


def objections(
    ledger: Ledger, summary: str, covered: str = "", visible: Spans = ()
) -> list[Objection]:
    """Everything that speaks against a summary of the stretch whose text is `covered`.

    Open requests inside `visible` stay word for word, so that the summary need not carry them.
    """
    now = current(ledger)
    known = Known(now, covered)
    found = [
        *_flipped(now, summary),
        *_states(now, summary),
        *_invented(known, summary),
        *_dropped(now, summary, visible),
    ]
    return list(dict.fromkeys(found))


def _flipped(ledger: Ledger, summary: str) -> Iterator[Objection]:
    lines = {plain(one.line) for one in ledger.commands}
    for sentence in (one for one in _SENTENCE.split(summary) if len(one) > _SHORT):
        named = _commands_in(sentence, lines)
        claims = spoken_of(sentence, [place for place, _ in named])
        for (_, line), said in zip(named, claims, strict=True):
            runs = [one for one in ledger.commands if plain(one.line) in _meant(line, lines)]
            if why := _against(runs, said):
                yield Objection(rule="status", text=plain(sentence), why=f"{line}: {why}")
        if not named:
            yield from _kind_flipped(ledger, sentence)


def _commands_in(sentence: str, lines: set[str]) -> list[tuple[tuple[int, int], str]]:
    """The commands that a sentence names, with their places: in backticks, or word for word."""
    found = [
        ((match.start(), match.end()), plain(match[1]))
        for match in _CODE.finditer(sentence)
        if _meant(plain(match[1]), lines)
    ]
    if found:
        return found
    whole = [line for line in lines if " " in line and line in sentence]
    longest = max(whole, key=len, default="")
    place = sentence.find(longest)
    return [((place, place + len(longest)), longest)] if longest else []


def _meant(said: str, lines: set[str]) -> set[str]:
    """The commands that a text in backticks stands for: whole, or with words left out."""
    if said in lines:
        return {said}
    words = said.split()
    return {
        line
        for line in lines
        if words and _is_program(words[0], line) and _sub(words, line.split())
    }


def _is_program(word: str, line: str) -> bool:
    """Whether a word can stand for a command, rather than for something it is given."""
    return word in mentions.PROGRAMS or line.split()[0] == word


def _sub(some: list[str], others: list[str]) -> bool:
    rest = iter(others)
    return all(word in rest for word in some)


def _against(runs: list[Command], said: Said) -> str:
    """Why a claim contradicts these runs; empty where it does not."""
    told = [one for one in runs if one.outcome in ("succeeded", "failed")]
    if said.exit is not None and told and not _could_exit(told, said.exit):
        ends = ", ".join("unknown" if one.exit is None else str(one.exit) for one in told)
        return f"the log tells exit {ends}"
    if not said.claim or not told:
        return ""
    held = told[-1:] if said.now else told
    if any(one.outcome == said.claim for one in held):
        return ""
    return f"the log says it {held[-1].outcome}"


def _could_exit(told: list[Command], status: int) -> bool:
    if any(one.exit == status for one in told):
        return True
    return any(one.exit is None and (one.outcome == "failed") == (status != 0) for one in told)


def _kind_flipped(ledger: Ledger, sentence: str) -> Iterator[Objection]:
    """All tests or the build are told to be well, and the last such command failed.

    That some test once failed is not held against the log: not every test has a command.
    """
    for name, words, pattern in _KINDS:
        if not words.search(sentence) or claimed(sentence).claim != "succeeded":
            continue
        runs = [one for one in ledger.commands if pattern.search(one.line)]
        told = [one for one in runs if one.outcome in ("succeeded", "failed")]
        if told and told[-1].outcome == "failed":
            why = f"the last command of the {name}, {told[-1].line}, {told[-1].outcome}"
            yield Objection(rule="status", text=plain(sentence), why=why)


def _states(ledger: Ledger, summary: str) -> Iterator[Objection]:
    """Files told to be deleted that are there."""
    for found in _DELETED.finditer(summary):
        file = _file(ledger, found[1].rstrip(".:;"))
        if file and file.change in ("created", "changed") and not _removed_by_shell(ledger, file):
            why = f"{file.path} was {file.change} at #{file.seq}"
            yield Objection(rule="file-state", text=plain(found[0]), why=why)


def _file(ledger: Ledger, path: str) -> File | None:
    if path in ledger.files:
        return ledger.files[path]
    ends = [one for name, one in ledger.files.items() if name.endswith("/" + path)]
    return ends[0] if len(ends) == 1 else None


def _removed_by_shell(ledger: Ledger, file: File) -> bool:
    name = file.path.rsplit("/", 1)[-1]
    return any(
        one.seq >= file.seq and name in one.line and re.search(r"\brm\b", one.line)
        for one in ledger.commands
    )


def _invented(known: Known, summary: str) -> Iterator[Objection]:
    lines = list(mentions.commands(summary))
    for line in lines:
        if not known.has_command(line):
            yield Objection(rule="invented-command", text=line, why="nobody gave this command")
    prose = summary
    for line in lines:  # what stands in a command was judged with it
        prose = prose.replace(line, " ")
    for path in dict.fromkeys(mentions.paths(prose)):
        if not known.has_path(path):
            meant = known.meant(path)
            rule = "renamed-file" if meant else "invented-path"
            why = f"the log knows {meant}" if meant else "no such path was ever named"
            yield Objection(rule=rule, text=path, why=why)
    for name in dict.fromkeys(mentions.identifiers(prose)):
        if not known.has_name(name):
            yield Objection(rule="invented-identifier", text=name, why="it was never used")


def _dropped(ledger: Ledger, summary: str, visible: Spans) -> Iterator[Objection]:
    for request in ledger.requests:
        unanswered = request.status == "open" and not request.fate
        if unanswered and not within(request.seq, visible) and not kept(request, summary):
            text = plain(request.text)[:200]
            yield Objection(rule="dropped-request", text=text, why=f"#{request.seq} is open")


def kept(request: Request, summary: str) -> bool:
    """Whether a summary still speaks of a request."""
    if plain(request.text) in plain(summary):
        return True
    wanted = stems(request.text)
    if not wanted:
        return bool(_ASKED.search(summary))
    if share(wanted, stems(summary)) >= ENOUGH:
        return True
    spoken = [sentence for sentence in _SENTENCE.split(summary) if _ASKED.search(sentence)]
    foreign = is_wide(request.text) != is_wide(summary) and len(wanted) > 2
    return any(foreign or wanted & stems(sentence) for sentence in spoken)
