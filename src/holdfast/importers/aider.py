"""The chat histories of Aider: one Markdown file for every run in a project, one after the other.

Rule 1: a run is a session. What the user typed stands in `#### ` lines, what the console showed in
        `> ` lines; both end with two spaces. Everything else is the model's.
Rule 2: quotes and headings of a reply end without them, and what stands in a fence, or in a
        SEARCH/REPLACE block, is the reply's whatever it looks like. A fence that nobody closed ends
        where only the program can have written.
Rule 3: where a formatter has taken the blanks at the ends of lines away, or the blank lines, which
        the first lines of a run show, such a heading is the user's after what the console shows;
        in a reply it is the user's only where nothing shows the end of a reply.
Rule 4: in architect mode the plan is handed to the editor as a prompt, word for word: a prompt that
        repeats the reply before it is the program's.
Rule 5: the file names no messages and tells no times but when a run began, without a zone: it is
        read as UTC, so that it stays the same wherever it is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from hashlib import blake2b
from pathlib import PurePath

from msgspec.structs import replace

from holdfast.importers.jsonl import NOT_UTF8, as_utf8, milliseconds
from holdfast.importers.values import begins, billionths, count
from holdfast.model.message import Message, Record, Text
from holdfast.model.reply import Usage
from holdfast.model.transcript_events import (
    CallRead,
    Kept,
    Line,
    MessageRead,
    Problem,
    SessionStarted,
    TranscriptEvent,
)
from holdfast.ports import TranscriptFile

AGENT = "aider"

CONSOLE = "system-reminder"
"""What the console showed, and a plan that is handed to the editor, are no words of the user's."""

START = re.compile(r"# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*\Z")
_STARTED = re.compile(rb"^# aider chat started at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d", re.MULTILINE)

_MODEL = re.compile(r"(?:Main model|Models?): (\S+) with ")
_NUMBER = r"([\d.,]{1,15}[kM]?)"
_TOKENS = re.compile(
    rf"Tokens: {_NUMBER} sent(?:, {_NUMBER} cache write)?(?:, {_NUMBER} cache hit)?"
    rf"(?:, {_NUMBER} received)?\.?(?: Cost: \$([\d.,]{{1,20}}) (?:message|request))?"
)
_COST = re.compile(r"(?:> )?Cost: \$([\d.,]{1,20}) (?:message|request)")
"""The cost in a line of its own: so it is shown where a cache was both written and read."""
_UNENDED = re.compile(rf"> Tokens: {_NUMBER} sent, [^$\n]{{1,100}} received\.\Z")
"""The line before such a cost ends without blanks."""
_METERED = re.compile(r"Aider v(?:0\.(?:[4-9]\d|\d{3})|[1-9])")
"""A version that shows after every reply what it has used."""
_TOKENS_BEFORE = re.compile(
    r"(\d{1,12}) prompt tokens, (\d{1,12}) completion tokens(?:, \$([\d.]{1,20}) cost)?"
)
_PROGRAM = re.compile(
    r"> (?:\s*\Z|Model \S+ has hit |Tokens: |\d+ prompt tokens|Applied edit to |"
    r"Commit [0-9a-f]{4,}|Added .* to the chat|"
    r"Add .*\? |The LLM did not |Attempt to fix |Only \d+ reflections|Retrying in |litellm\.|"
    r"Allow (?:creation|edits) |Did not apply |Committing |Update git |The API provider)"
)
"""What only the program writes, be it behind a fence that is still open."""

_FENCE = re.compile(r"\s{0,12}(`{3,}|~{3,})(.*)")
_TAG = re.compile(r"\s{0,12}<(source|code|pre|codeblock|sourcecode)>")
_SEARCH = re.compile(r"<{5,9} SEARCH\s*\Z")
_REPLACE = re.compile(r">{5,9} (?:REPLACE|UPDATED)\s*\Z")


class Aider:
    """Reads what Aider leaves in the directory of a project."""

    name = AGENT
    reach = 0

    def default_paths(self) -> tuple[str, ...]:
        return (".aider.chat.history.md",)

    def matches_name(self, name: str) -> bool:
        return name.endswith(".md")

    def recognises(self, head: bytes, name: str) -> bool:
        return begins(_STARTED, head)

    def read(self, material: TranscriptFile) -> Iterator[TranscriptEvent]:
        return Reading(material).told()


class Reading:
    """The reading of one file: its runs, one after the other."""

    def __init__(self, material: TranscriptFile) -> None:
        self._material = material
        self._directory = directory(material.path)
        self._met: dict[str, int] = {}

    def told(self) -> Iterator[TranscriptEvent]:
        """Everything that stands in it."""
        run: Run | None = None
        for line in self._material.lines():
            text = None if line.fault else _decoded(line.data)
            if text is None:
                yield from _damaged(line, run)
                text = _decoded(as_utf8(line.data))
            if text is None or line.fault:
                continue
            start = run.starts(text) if run else START.match(text)
            if start:
                yield from run.close() if run else ()
                parted = run is not None and run.parts_next
                run = Run(self._named(start[1]), milliseconds(f"{start[1]}+00:00"), parted)
                yield SessionStarted(
                    native=run.native, created=run.created, directory=self._directory
                )
            elif not run and text.strip():
                run = Run(f"without a beginning {_print(text)}", 0, True)
                yield Problem("a run whose beginning is missing", line.number)
                yield SessionStarted(native=run.native, directory=self._directory)
            if run and (not start or start.string != text):
                yield from run.feed(text, line.number)
        yield from run.close() if run else ()

    def _named(self, start: str) -> str:
        """What a run is called: by when it began, and which one of that second it was."""
        self._met[start] = self._met.get(start, 0) + 1
        return f"{start}#{self._met[start]}" if self._met[start] > 1 else start


class Run:
    """One run of the program, line by line."""

    def __init__(self, native: str, created: int, parted: bool) -> None:
        self.native, self.created = native, created
        self.parts_next = False
        """Whether a blank line follows the beginning of the next run, which stood in a fence."""
        self._parted = parted
        """Whether one has followed the beginning of this run."""
        self._dense = False
        """Whether a formatter has taken the blank lines away."""
        self._metered = False
        """Whether the console shows the end of each reply."""
        self._unpriced: CallRead | None = None
        """A call whose cost may stand in the next line."""
        self._reply = b""
        """What the last reply is found again by."""
        self._mode = "banner"
        self._torn = False
        """Whether the console's last line goes on in the next."""
        self._trimmed, self._doubted, self._command = False, False, False
        """Whether a formatter has taken the blanks at the ends of lines away, or may have; and
        whether the first line, the command, goes on in the next."""
        self._fence = Fence()
        self._lines: list[str] = []
        self._first = 0
        self._blank = True
        self._said = 0
        self._calls = 0
        self._model = ""

    def starts(self, text: str) -> re.Match[str] | None:
        """The beginning of the next run; inside a fence it is one once the console has spoken."""
        self.parts_next = False
        if not self._inside:
            return START.match(text)
        if not text.startswith("> "):
            return None
        last = next((n for n, one in enumerate(reversed(self._lines), 1) if one.strip()), 0)
        start = START.match(self._lines[-last]) if last else None
        if start:
            del self._lines[-last:]
            self.parts_next = last > 1
        return start

    @property
    def _inside(self) -> bool:
        """Whether the next line stands in a fence of a reply."""
        return self._mode == "reply" and self._fence.open

    def feed(self, text: str, number: int) -> Iterator[TranscriptEvent]:
        """What is finished by one more line."""
        cost = _COST.match(text) if self._unpriced else None
        yield from self._called(_billionths(cost[1]) if cost else None)
        self._dense = self._dense or not (self._parted or not text.strip())
        self._parted = True
        shown = self._mode, text.removeprefix("> ").rstrip()
        mode, words = shown if cost else self._what(text)
        if mode != self._mode or (mode == "user" and self._blank and not self._goes_on(words)):
            yield from self._finish()
            self._mode, self._first, self._fence = mode, number, Fence()
        if words is not None:
            self._lines.append(words)
            if mode == "reply":
                self._fence.feed(text)
            elif mode != "user":
                yield from self._used(words)
        self._blank = not text.strip()

    def _what(self, text: str) -> tuple[str, str | None]:
        """Whose a line is, and its words; None where it only parts two others."""
        inside = self._inside
        console = "banner" if self._mode == "banner" else "console"
        if self._mode == "banner":
            self._doubt(text)
        empty = text == "####" and self._trimmed and self._mode != "reply"
        if (empty or text.startswith("#### ")) and self._prompts(text):
            self._torn = False
            return "user", text[5:].removesuffix("  ")
        if self._mode == "reply":
            shown = text.startswith("> ") and (self._ends(text) or bool(_UNENDED.match(text)))
            if inside or self._trimmed:
                apart = self._blank or self._dense
                shown = shown and apart and bool(_PROGRAM.match(text))
            return (console, text[2:].rstrip()) if shown else ("reply", text)
        if text.startswith("> ") or text == ">" or self._torn:
            self._torn = not (self._ends(text) or text == ">" or _UNENDED.match(text))
            return console, text.removeprefix(">").removeprefix(" ").rstrip()
        if not text.strip():
            return self._mode, None
        return "reply", text

    def _prompts(self, text: str) -> bool:
        """Whether a heading is what the user typed."""
        if not self._ends(text) or (self._mode == "reply" and self._trimmed and self._metered):
            return False
        return self._blank or self._dense or self._mode == "user"

    def _goes_on(self, words: str | None) -> bool:
        """Whether a heading behind a blank line goes on with the prompt: a formatter parts all
        headings so, and what is no command is answered before anything else is typed."""
        told = (self._lines[0] if self._lines else "/", words or "")
        return self._trimmed and not any(one.startswith(("/", "!")) for one in told)

    def _doubt(self, text: str) -> None:
        """Look for the blanks: the first line may only go on, for what was asked stands in it."""
        if text.startswith("> ") and not self._lines:
            self._doubted = not text.endswith("  ") and "aider" in text.lower()
            self._command = self._doubted
        elif self._doubted and text.endswith("  "):
            self._doubted = False
        elif text.startswith("####") and text[4:5] in ("", " ") and (self._blank or self._dense):
            cut = self._doubted or not (self._command or text.endswith("  "))
            self._doubted, self._trimmed, self._torn = False, cut, self._torn and not cut

    def _ends(self, text: str) -> bool:
        """Whether a line ends as the program ends those that are not the model's."""
        return self._trimmed or text.endswith("  ")

    def _used(self, words: str) -> Iterator[TranscriptEvent]:
        """What a line of the console tells of the model and its use."""
        if found := _MODEL.match(words):
            self._model = found[1]
        self._metered = self._metered or bool(_METERED.match(words))
        usage, cost = spent(words)
        if usage:
            self._calls, self._metered = self._calls + 1, True
            when = self.created + self._calls  # there is no other time, and each call has its own
            self._unpriced = CallRead(
                usage=usage, cost=cost, started=when, ended=when, model=self._model
            )
        if cost is not None:
            yield from self._called()

    def _called(self, cost: int | None = None) -> Iterator[TranscriptEvent]:
        """The call that waits for its cost."""
        call, self._unpriced = self._unpriced, None
        if call:
            yield replace(call, cost=call.cost if cost is None else cost)

    def _finish(self, *, open: bool = False) -> Iterator[TranscriptEvent]:
        lines, self._lines = self._lines, []
        text = "\n".join(lines)
        text = text if self._mode == "user" else text.strip("\n")
        if not text.strip():
            return
        if self._mode == "banner":
            raw = text.encode("utf-8", "surrogatepass")
            yield Kept(Record(AGENT, "banner", raw, self._first, whole=True))
            return
        self._said += 1
        reply = self._mode == "reply"
        repeated = self._mode == "user" and self._reply == _essence(text)
        self._reply = _essence(text) if reply else self._reply
        part = Text(text, scaffold=CONSOLE if repeated or self._mode == "console" else "")
        yield MessageRead(
            message=Message("assistant" if reply else "user", (part,)),
            created=self.created, completed=self.created, native=f"{self._said}:{_print(lines[0])}",
            model=self._model if reply else "", open=open,
        )  # fmt: skip

    def close(self) -> Iterator[TranscriptEvent]:
        """What is left when the run ends here."""
        yield from self._called()
        told = list(self._finish(open=True))
        yield from told
        if told and not self._said:
            yield Problem("a run in which nothing was said", self._first, "notice")


class Fence:
    """Whether a line of a reply stands in a fence or a SEARCH/REPLACE block."""

    def __init__(self) -> None:
        self._mark = ""
        self._search = False

    @property
    def open(self) -> bool:
        """Whether the next line stands in one."""
        return bool(self._mark) or self._search

    def feed(self, text: str) -> None:
        """Take one more line."""
        if self._search:
            self._search = not _REPLACE.match(text)
        elif _SEARCH.match(text):
            self._search = True
        elif self._mark.startswith("</"):
            self._mark = "" if text.strip().startswith(self._mark) else self._mark
        elif found := _FENCE.match(text):
            self._turn(found[1], found[2])
        elif not self._mark and (tag := _TAG.match(text)):
            self._mark = "" if f"</{tag[1]}>" in text else f"</{tag[1]}>"

    def _turn(self, mark: str, more: str) -> None:
        """Open a fence, or close the one that is open."""
        if not self._mark:
            self._mark = "" if mark[0] == "`" and "`" in more else mark
        elif mark.startswith(self._mark) and not more.strip():
            self._mark = ""


def spent(words: str) -> tuple[Usage | None, int | None]:
    """What a call used and cost, where a line of the console says so."""
    if found := _TOKENS_BEFORE.match(words):
        used = Usage(input=int(found[1]), output=int(found[2]))
        return used, _billionths(found[3])
    if found := _TOKENS.match(words):
        sent, write, hit, received = (_number(found[n]) for n in range(1, 5))
        fresh = max(sent - write - hit, 0)
        used = Usage(input=fresh, cache_write=write, cache_read=hit, output=received)
        return used, _billionths(found[5])
    return None, None


def directory(path: str) -> str:
    """The project that a history lies in; empty where the file was put elsewhere."""
    file = PurePath(path)
    return str(file.parent) if file.name == ".aider.chat.history.md" else ""


def _print(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


def _essence(text: str) -> bytes:
    """What a text is found again by, however its lines are parted and end."""
    lines = (line.strip() for line in text.split("\n"))
    told = "\n".join(filter(None, lines)).encode("utf-8", "surrogatepass")
    return blake2b(told, digest_size=16).digest()


def _number(text: str | None) -> int:
    scale = {"k": 1_000, "M": 1_000_000}.get((text or "")[-1:], 1)
    try:
        return count(int(Decimal((text or "0").rstrip("kM").replace(",", "")) * scale))
    except InvalidOperation:
        return 0


def _billionths(text: str | None) -> int | None:
    try:
        return billionths(float(Decimal(text.rstrip(".").replace(",", "")))) if text else None
    except InvalidOperation:
        return None


def _decoded(data: bytes) -> str | None:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _damaged(line: Line, run: Run | None) -> Iterator[TranscriptEvent]:
    yield Problem(line.fault or NOT_UTF8, line.number)
    if run and not line.fault:
        yield Kept(Record(AGENT, "not UTF-8", line.data, line.number, whole=True))
