"""The commands in a line as the shell reads it: a word is whole, a redirection is no part of it.

Rule 1: every character is looked at once for each level of quoting, and there are few levels: what
        is quoted is read again as a command only where a program is named that might run it.
Rule 2: nothing is left out. What stands in a substitution, in a group or behind an operator is a
        command of its own; whatever the shell puts in place of it is MADE_UP in the word around.
Rule 3: a sign that quotes keep from acting is KEPT, so that no word falls apart at it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, NamedTuple

MADE_UP: Final = "\uffff"
"""Stands for whatever the shell puts there; in a command itself it only makes that ask more."""
KEPT: Final = "\ufffe"
"""Stands for a sign that would act if it were not quoted, and for a word without any."""
LEVELS: Final = 4
"""How often what is quoted is read as a command within a command at most."""

_ACTING: Final = re.compile(r"[\s;&|()<>`$'\"\\]")
_CODE: Final = re.compile(
    r"(?P<plain>[^\s\\'\"`$();&|<>{}\[\#~*?]+)|(?P<blank>[ \t]+)|(?P<joined>\\\n)"
    r"|\\(?P<escaped>.)|(?P<cut>[;|\n]|&(?!>))|(?P<ansi>\$'(?:[^'\\]|\\.)*+'?)"
    r"|'(?P<single>[^']*+)'?|(?P<double>\$?\")|`(?P<ticks>(?:[^`\\]|\\.)*+)`?"
    r"|(?P<out>[$<>]\(|\$\{)|(?P<value>\$\w+|\$[@*#?$!-])"
    r"|(?P<here><<-?(?!<))|(?P<redirect>&>>?|<<<|<>|[<>]&|>>|>\||[<>])"
    r"|(?P<open>\()|(?P<close>\))|(?P<index>\[[^\[\]\s'\"`$\\]*+\]\+?=)|(?P<any>[*?])"
    r"|(?P<rest>\{(?![\s}]|\Z)|\[(?![\s\[]|\Z))|(?P<end>\})"
    r"|(?P<comment>\#)|(?P<home>~[+-]?(?=[\s;&|()<>]|\Z))|(?P<other>.)",
    re.DOTALL,
)
_QUOTED: Final = re.compile(
    r"(?P<kept>[^\"\\`$]+)|(?P<joined>\\\n)|\\(?P<escaped>[$`\"\\])"
    r"|`(?P<ticks>(?:[^`\\]|\\.)*+)`?|(?P<out>\$\(|\$\{)|(?P<value>\$\w+|\$[@*#?$!-])"
    r"|(?P<unquote>\")|(?P<kept_too>.)",
    re.DOTALL,
)
_DESCRIPTOR: Final = re.compile(r"[0-9]+|\{\w+\}")
_UNTICKED: Final = re.compile(r"\\([`\\$])")


class Word(NamedTuple):
    """One word of a command."""

    raw: str
    """As it is written."""
    text: str
    """Without quotes."""
    value: str
    """What is quoted in it, to be read as a command; empty where it could be none."""


class Here(NamedTuple):
    """A document that begins with the next line."""

    end: str
    plain: bool
    """Whether nothing in it is put in place of anything."""
    indented: bool


class Reading:
    """What has been read of a command, and what ends it."""

    def __init__(self, kind: str = "", *, counts: bool = False) -> None:
        self.kind = kind
        self.counts = counts
        """Whether it is arithmetic."""
        self.words: list[Word] = []
        self.cases = 0
        self.drops = ""
        """The operator whose word is next."""
        self.clear()

    def clear(self) -> None:
        """Begin a word."""
        self.text: list[str] = []
        self.value: list[str] = []
        self.begun = -1
        self.quoted = self.all_made_up = False

    def add(self, text: str, value: str, at: int, *, quoted: bool = False) -> None:
        """More of the word that is being read."""
        if self.begun < 0:
            self.begun = at
        self.quoted |= quoted
        self.text.append(MADE_UP if self.all_made_up else text)
        self.value.append(value)


class Lexer:
    """Reads one line, as commands or as what stands between double quotes."""

    def __init__(self, line: str, *, quoted: bool = False) -> None:
        self.found: list[list[Word]] = []
        self.within: list[tuple[str, bool]] = []
        """What is to be read besides: and whether it is as between double quotes."""
        self._line = line
        self._at = 0
        self._here: list[Here] = []
        self._open = [Reading("<<" if quoted else "")]

    def read(self) -> None:
        """Read all of it."""
        while self._at < len(self._line):
            quoted = self._open[-1].kind in ('"', "<<")
            found = (_QUOTED if quoted else _CODE).match(self._line, self._at)
            assert found is not None
            assert found.lastgroup is not None
            begun, self._at = self._at, found.end()
            _ACTS[found.lastgroup](self, found[found.lastgroup], begun)
        while self._open:
            self._cut(self._at)
            self._open.pop()

    def plain(self, text: str, at: int) -> None:
        self._open[-1].add(text, text, at)

    def kept(self, text: str, at: int) -> None:
        self._open[-1].add(_ACTING.sub(KEPT, text), text, at, quoted=True)

    def made_up(self, text: str, at: int) -> None:
        self._open[-1].add(MADE_UP, MADE_UP, at)

    def single(self, text: str, at: int) -> None:
        top = self._open[-1]
        if top.kind == '"${':  # there it is no quote
            self._at = at + 1
            top.add(KEPT, "'", at, quoted=True)
            return
        self.kept(text, at)

    def double(self, text: str, at: int) -> None:
        self._open[-1].add("", "", at, quoted=True)
        self._open.append(Reading('"'))

    def unquote(self, text: str, at: int) -> None:
        if self._open[-1].kind == "<<":
            self.kept(text, at)
            return
        inner = self._open.pop()
        self._open[-1].add("".join(inner.text), "".join(inner.value), at, quoted=True)

    def ticks(self, text: str, at: int) -> None:
        self.within.append((_UNTICKED.sub(r"\1", text), False))
        self.made_up(text, at)

    def out(self, text: str, at: int) -> None:
        top = self._open[-1]
        self.made_up(text, at)
        kind = f'"{text}' if text == "${" and top.kind in ('"', "<<", '"${') else text
        self._open.append(Reading(kind, counts=top.counts and text != "$("))

    def open(self, text: str, at: int) -> None:
        top = self._open[-1]
        if top.kind.endswith("${"):
            self.plain(KEPT, at)
            return
        before = self._line[at - 1 : at]
        if top.begun >= 0 and before in ("=", "?", "*", "+", "@", "!"):
            self.made_up(text, at)
            self._open.append(Reading("+("))
            return
        self._cut(at)
        self._open.append(Reading("(", counts=top.counts or before == "("))

    def close(self, text: str, at: int) -> None:
        top = self._open[-1]
        if top.kind.endswith("${"):
            self.plain(KEPT, at)
            return
        self._cut(at)
        if top.kind and not top.cases:
            self._open.pop()

    def end(self, text: str, at: int) -> None:
        if self._open[-1].kind.endswith("${"):
            self._cut(at)
            self._open.pop()
        else:
            self.plain(text, at)

    def rest(self, text: str, at: int) -> None:
        self.made_up(text, at)
        self._open[-1].all_made_up = True

    def index(self, text: str, at: int) -> None:
        top = self._open[-1]
        if top.begun >= 0 and not top.words and "".join(top.text).isidentifier():
            self.plain("=", at)
        else:
            self._at = at + 1
            self.rest(text, at)

    def comment(self, text: str, at: int) -> None:
        top = self._open[-1]
        if top.begun >= 0 or top.counts or top.kind.endswith("${"):
            self.plain(text, at)
            return
        end = self._line.find("\n", at)
        self._at = len(self._line) if end < 0 else end

    def home(self, text: str, at: int) -> None:
        begins = self._open[-1].begun < 0
        (self.made_up if begins else self.plain)(text, at)

    def redirect(self, text: str, at: int) -> None:
        top = self._open[-1]
        if top.begun >= 0 and _DESCRIPTOR.fullmatch(self._line[top.begun : at]):
            top.clear()
        self._word(at)
        top.drops = text

    def here(self, text: str, at: int) -> None:
        self.redirect("<" if self._open[-1].counts else text, at)

    def blank(self, text: str, at: int) -> None:
        self._word(at)

    def joined(self, text: str, at: int) -> None:
        """Two lines are one."""

    def cut(self, text: str, at: int) -> None:
        self._cut(at)
        if text == "\n" and self._here:
            self._documents()

    def _word(self, at: int) -> None:
        """Here a word ends."""
        top = self._open[-1]
        if top.begun < 0:
            return
        text, value = "".join(top.text), "".join(top.value)
        if top.drops.startswith("<<") and top.drops != "<<<":
            self._here.append(Here(value, top.quoted, top.drops == "<<-"))
        elif not top.drops:
            self._case(top, text)
            value = value if top.quoted and _ACTING.search(value) else ""
            top.words.append(Word(self._line[top.begun : at], text or KEPT, value))
        top.drops = ""
        top.clear()

    def _case(self, top: Reading, text: str) -> None:
        """In a case, a parenthesis that closes may end a pattern."""
        if not top.words or top.words[-1].text in _BEFORE_CASE:
            top.cases += text == "case"
            top.cases -= text == "esac" and top.cases > 0

    def _cut(self, at: int) -> None:
        """Here a command ends."""
        top = self._open[-1]
        self._word(at)
        top.drops = ""
        if top.words:
            self.found.append(top.words)
            top.words = []

    def _documents(self) -> None:
        """What the lines say that follow is text, whose substitutions are commands."""
        for here in self._here:
            begun = self._at
            while self._at < len(self._line):
                stop = self._line.find("\n", self._at)
                stop = len(self._line) if stop < 0 else stop
                line = self._line[self._at : stop]
                ended, self._at = self._at, stop + 1
                if (line.lstrip("\t") if here.indented else line) == here.end:
                    break
            else:
                ended = len(self._line)
            if not here.plain:
                self.within.append((self._line[begun:ended], True))
        self._here = []


_JOINING: Final = frozenset(["eval", "ssh"])
"""Programs that run all of their words as one command."""
_BEFORE_CASE: Final = frozenset(["{", "then", "do", "else", "!", "if", "while", "until", "elif"])
_ACTS: Final[dict[str, Callable[[Lexer, str, int], None]]] = {
    "plain": Lexer.plain, "other": Lexer.plain, "end": Lexer.end, "kept": Lexer.kept,
    "kept_too": Lexer.kept, "escaped": Lexer.kept, "single": Lexer.single, "ansi": Lexer.made_up,
    "value": Lexer.made_up, "any": Lexer.made_up, "home": Lexer.home, "rest": Lexer.rest,
    "double": Lexer.double, "unquote": Lexer.unquote, "ticks": Lexer.ticks, "out": Lexer.out,
    "open": Lexer.open, "close": Lexer.close, "comment": Lexer.comment, "index": Lexer.index,
    "redirect": Lexer.redirect, "here": Lexer.here, "blank": Lexer.blank,
    "joined": Lexer.joined, "cut": Lexer.cut,
}  # fmt: skip


def commands(line: str, runs: Callable[[str], bool]) -> tuple[list[list[Word]], bool]:
    """The commands in a line, and whether it has more levels than are read.

    What is quoted is read as a command of its own where a program is named that runs its words.
    """
    found: list[list[Word]] = []
    waiting = [(line, False)]
    for _ in range(LEVELS):
        within: list[tuple[str, bool]] = []
        for text, quoted in waiting:
            lexer = Lexer(text, quoted=quoted)
            lexer.read()
            found += lexer.found
            within += lexer.within
            for words in lexer.found:
                if any(word.value for word in words) and any(runs(word.text) for word in words):
                    within += [(word.value, False) for word in words if word.value]
                    if any(word.text in _JOINING for word in words):
                        within.append((" ".join(word.value or word.text for word in words), False))
        waiting = within
    return found, bool(waiting)
