"""A command line as rules see it: what a pattern allows of it, and the commands it is made of.

Rule 1: a wildcard stands for words of one command, never for what chains, redirects or
        substitutes, nor for an argument that runs another program (launch.py). That is spelled.
Rule 2: what is forbidden is looked for at every word of every part, quoted or not, behind any
        number of options: too much is better than too little.
Rule 3: where the shell makes up a word that could be a forbidden command (`git $x`, `g{i,}t push`),
        the command might be one. It is a net all the same, and no fence: a shell has other words.
Rule 4: a line is taken apart in several ways, as the shell does it (lexing.py) and at every sign
        that could part commands, quoted or not: what one reading misses another finds.
Rule 5: a pattern is matched by an automaton that reads each character once, so judging takes time
        linear in the command, whatever it holds; nothing is left out to make it so.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

from holdfast.agent.lexing import KEPT, MADE_UP
from holdfast.agent.permissions.launchers import RUNNERS, first_program, lexed

_WORD: Final = r"(?:[^;&|\n\r\0`<>(){$]|\$(?![({])|(?<!\$)\{)"
"""A character that a wildcard may stand for."""

_BREAK: Final = re.compile(r"\$\(|[;&|\n\r`()]")
_SUBSTITUTED: Final = re.compile(r"\$\(|[`()]")
_BLANK: Final = re.compile(r"\$(?:IFS\b|\{IFS[^}$`\s]{0,20}\})")
_REDIRECTED: Final = re.compile(
    r"(?:(?<![0-9])[0-9]++|&(?=>))?(?<![<>])[<>]++[&|]?[ \t]*+[^\s;&|()<>`]++"
)
_QUOTES: Final = str.maketrans("", "", "\"'\\")

_EXPANDED: Final = re.compile(
    r"(?P<out>[$<>@?*+!]\()|(?P<tick>`)|(?P<open>\()|(?P<close>\))|(?P<end>[;&|\n\r])"
    r"|(?P<any>\$'[^']*+'?|\$\{[^}$`]*+\}?|\$\w++|\$[@*#?$!-]|\{(?!\})[^\s;&|()`<>{]++"
    r"|(?<=\S)\}|\[[^\s\[;&|()`<>]++|[*?])"
)
_WHOLE: Final = re.compile(f"(?<![^ /=!:,])[^ /=!:,{MADE_UP}]++(?=[ /=!:,]|\\Z)")
"""A word in which the shell makes nothing up."""
_OPTION: Final = re.compile(r"-([A-Za-z0-9]++)")
_LONG: Final = re.compile(r"--([A-Za-z0-9])")
_PLAIN: Final = re.compile(r"(?<!\S)[^\s-]\S*+")
_BEGINNING: Final = re.compile(r"[ /=!:,](?=[^ /=!:,])")
"""Behind these a command may begin: another word, the name in a path, a value."""


def spells(pattern: str, command: str) -> bool:
    """Whether a command is what a pattern spells, its wildcards standing for words alone."""
    return _spelling(pattern.strip()).fullmatch(command.strip()) is not None


@lru_cache(maxsize=256)
def _spelling(pattern: str) -> re.Pattern[str]:
    first, *rest = _stretches(pattern)
    if not rest:
        return re.compile(first)
    between = "".join(f"(?>{_WORD}*?{one})" for one in rest[:-1] if one)
    return re.compile(f"{first}{between}{_WORD}*{rest[-1]}")


def _stretches(pattern: str) -> list[str]:
    """What stands between the stars of a pattern, as expressions."""
    made = [""]
    for sign in re.findall(r"\[!?\]?[^\]]*\]|.", pattern, re.DOTALL):
        if sign == "*":
            made.append("")
        elif sign == "?":
            made[-1] += _WORD
        elif len(sign) == 3:  # one sign in brackets is that sign
            made[-1] += re.escape(sign[1])
        elif len(sign) > 1:
            made[-1] += f"(?={_WORD}){fnmatch.translate(sign)[4:].rpartition(')')[0]}"
        else:
            made[-1] += re.escape(sign)
    return made


class Glob:
    """A pattern as an automaton: `*` any characters, `?` one, `[…]` one of several.

    Its states are the bits of one integer: bit n is set where the first n signs have been matched.
    """

    def __init__(self, pattern: str) -> None:
        self._signs = [one for one in _SIGN.findall(" ".join(pattern.split())) if one != "*"]
        self._known: dict[str, int] = {}
        self._stars = self._after_blank = count = 0
        for sign in _SIGN.findall(" ".join(pattern.split())):
            if sign == "*":
                self._stars |= 1 << count
                continue
            count += 1
            self._after_blank |= (sign == " ") << count
        self._final = 1 << count

    def ends(self, text: str, starts: list[int]) -> bool:
        """Whether it matches from one of some places in a text to the text's end.

        Between two words of the pattern the text may have options with their values: how many
        words those take is not known, so that any word behind an option may be the next.
        """
        states = skipping = 0
        begin, at, size = iter([*starts, -1]), 0, len(text)
        start = next(begin)
        while at < size:
            if not states and not skipping and at != start:
                if start < at:
                    break
                at = start  # nothing before it can begin a match
            if at == start:
                states, start = states | 1, next(begin)
            if not at or text[at - 1] in " /":
                skipping |= states & self._after_blank if text[at] == "-" else 0
                states |= skipping
            if text[at] == MADE_UP:
                states = (2 * self._final - (states & -states)) if states else 0
                skipping |= states & self._after_blank
            else:
                states = (states & self._matching(text[at])) << 1 | states & self._stars
            at += 1
        return bool(states & self._final)

    def _matching(self, character: str) -> int:
        """The states in which a character is the next to match."""
        known = self._known.get(character)
        if known is None:
            fits = (fnmatch.fnmatchcase(character, sign) for sign in self._signs)
            known = sum(1 << n for n, fit in enumerate(fits) if fit)
            self._known[character] = known
        return known


_SIGN: Final = re.compile(r"\[!?\]?[^\]]*\]|.", re.DOTALL)


def names(pattern: str, command: str) -> bool:
    """Whether any command in a line is what a pattern forbids, in each way it could be meant."""
    glob, joined = _glob(pattern), _joined(command)
    whole = " ".join(joined.split())
    if fnmatch.fnmatchcase(command, pattern) or glob.ends(whole, [0]):
        return True
    texts = (joined, _REDIRECTED.sub(" ", joined), _SUBSTITUTED.sub(" ", joined))
    parts = {" ".join(one.split()) for text in texts for one in _BREAK.split(text)}
    parts |= {" ".join(part.translate(_QUOTES).split()) for part in parts}
    parts |= {part.replace(MADE_UP, KEPT) for part in _lexed(command)}
    return any(glob.ends(part, _words(part)) for part in parts if part)


def might_name(pattern: str, command: str) -> bool:
    """Whether a command could be what a pattern forbids once the shell has made up its words, or
    where the names of programs are found in either case."""
    glob, joined = _glob(pattern), _joined(command)
    parts = {*_expanded(_REDIRECTED.sub(" ", joined)), *_expanded(joined), *_lexed(command)}
    if any(MADE_UP in part and glob.ends(part, _commands(part)) for part in parts):
        return True
    if _has_its_options(pattern, command):
        return True
    lower, meant = _in_lower_case(command), _in_lower_case(pattern)
    return (lower, meant) != (command, pattern) and names(meant, lower)


def _has_its_options(pattern: str, command: str) -> bool:
    """Whether a command has the options of a pattern, written in another way or another place:
    `rm -fr`, `rm -r -f` and `rm --recursive --force` might all be `rm -rf`."""
    words = pattern.split()
    wanted = _letters(word.partition("*")[0] for word in words)
    if not wanted:
        return False
    rest = [word for word in words if not word.startswith("-")]
    glob = _glob(" ".join(rest) + ("" if rest[-1:] == words[-1:] else "*"))
    plain = [one.translate(_QUOTES).split() for one in _BREAK.split(_joined(command))]
    for one in (*plain, *([word.text for word in words] for words in lexed(command)[0])):
        if wanted <= _letters(one) and glob.ends(part := " ".join(one), _words(part)):
            return True
    return False


def _letters(words: Iterable[str]) -> set[str]:
    """What options say, whether short or long: the letters they stand for, in either case."""
    found: set[str] = set()
    for word in words:
        if long := _LONG.match(word):
            found.add(long[1].lower())
        elif short := _OPTION.match(word):
            found.update(short[1].lower())
    return found


def _lexed(command: str) -> Iterator[str]:
    """The commands in a line as the shell reads it, each with a blank between its words."""
    return (" ".join(word.text for word in words) for words in lexed(_joined(command))[0])


def _in_lower_case(text: str) -> str:
    """All but its options, which mean something else in the other case."""
    return _PLAIN.sub(lambda word: word[0].lower(), text)


def _joined(command: str) -> str:
    """A command with what the shell takes for a blank, or for nothing, put so."""
    return _BLANK.sub(" ", command.replace("\\\n", "")).replace('$"', '"')


@lru_cache(maxsize=256)
def _glob(pattern: str) -> Glob:
    return Glob(pattern)


def _words(part: str) -> list[int]:
    """Where words begin, and where the name of a program does that is given with its path, or as
    the value of something."""
    return sorted({0, *(found.end() for found in _BEGINNING.finditer(part))})


def _commands(part: str) -> list[int]:
    """Where a command may begin: behind assignments, at every word behind one that runs others,
    and behind any other one where a whole word is there to be the command's name."""
    words = part.split(" ")
    at = sum(len(word) + 1 for word in words[: first_program(words)])
    first = part[at:].partition(" ")[0]
    places = [place for place in _words(part) if place >= at]
    if first.rpartition("/")[2] in RUNNERS:
        return places
    whole = {found.start() for found in _WHOLE.finditer(part, at + len(first))}
    return [place for place in places if place < at + len(first) or place in whole]


def _expanded(line: str) -> Iterator[str]:
    """The commands in a line, with a sign for whatever the shell puts into their words."""
    outer: list[list[str]] = []
    part: list[str] = []
    ticks, at = False, 0
    for found in _EXPANDED.finditer(line):
        part.append(line[at : found.start()])
        at, kind = found.end(), found.lastgroup
        if kind == "any":
            part.append(MADE_UP)
        elif kind in ("out", "open") or (kind == "tick" and not ticks):
            if kind == "open":  # what stands before it is a name, or nothing
                yield _cleaned(part)
                part = []
            else:
                part.append(MADE_UP)
            outer.append(part)
            part = []
        else:
            yield _cleaned(part)
            part = outer.pop() if kind != "end" and outer else []
        ticks ^= kind == "tick"
    for rest in (*outer, [*part, line[at:]]):
        yield _cleaned(rest)


def _cleaned(part: list[str]) -> str:
    return " ".join("".join(part).translate(_QUOTES).split())
