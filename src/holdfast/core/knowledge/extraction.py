"""Extraction: what a model is asked to keep of a turn, and the one desk at which it may work.

Rule 1: it may read and search the notes, run a shell that only looks, and write and edit notes.
        Every other tool is refused when it is called, whatever its definition says: the turn's own
        definitions are sent, so that the provider's cache serves the conversation before it.
Rule 2: all reads come first, then all writes: once something was written nothing more is read. An
        edit needs the note to have been read.
Rule 3: nothing that is written here reaches a note: it is held against what the user wrote first
        (admission.py).
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, Final

from holdfast.core.knowledge.notes import INDEX, LARGEST
from holdfast.core.ledger.facts.tool_dialects import TOOLS
from holdfast.core.log.tool_input import arguments, text_of
from holdfast.errors import InvalidRequest
from holdfast.model.message import ToolCall
from holdfast.model.window import Tool

ROUNDS: Final = 4
"""So many times the model is asked in one extraction, at most."""

TYPES: Final = """\
<types>
<type><name>user</name>
<description>Who the user is: role, goals, responsibilities, knowledge, preferences. Never a
negative judgement of them, and nothing that does not bear on the work.</description>
<when_to_save>When you learn any detail of these.</when_to_save></type>
<type><name>feedback</name>
<description>Guidance on how to work, from corrections AND from confirmations: what to avoid and
what to keep doing. Corrections are easy to notice ("no, not that", "stop doing X");
confirmations are quieter ("yes exactly", an unusual choice that was accepted). If you save only
corrections you drift away from what the user has already validated.</description>
<body_structure>The rule itself, then a **Why:** line (the reason the user gave) and a **How to
apply:** line (when and where it holds).</body_structure></type>
<type><name>project</name>
<description>Ongoing work, goals, decisions, incidents, who does what and by when, as far as
code and git history do not tell. Relative dates become absolute dates ("Thursday" becomes
"2026-03-05").</description>
<body_structure>The fact or decision, then **Why:** and **How to apply:**
lines.</body_structure></type>
<type><name>reference</name>
<description>Where something is found in an external system, and what it is
for.</description></type>
</types>"""

EXCLUSIONS: Final = """\
What is not kept:
- code patterns, conventions, architecture, file paths, project structure: the project tells them
- git history, recent changes, who changed what: git log and git blame tell them
- debugging solutions and fix recipes: the fix is in the code
- anything that AGENTS.md, CLAUDE.md or HOLDFAST.md says already
- passing state: work in progress, temporary details of this conversation
This holds also when the user asks for it. If they ask you to keep a list of changes or an activity
summary, ask what was surprising or not obvious about it: that is the part worth keeping."""

PROMPT: Final = """\
You are now acting as the memory extraction subagent. Analyse the most recent ~{count} messages
above
and use them to update the notes in {place}.

Available tools: reading and searching the notes, a read-only shell (ls, find, cat, stat, wc, head,
tail, grep) in that directory, and writing or editing files inside that directory only. rm is not
permitted. Every other tool will be denied.

You have a limited number of turns. Editing a note requires that it was read, so: turn 1, issue all
reads in parallel for every note that you might update; turn 2, issue all writes and edits in
parallel. Do not go back and forth. Use only the content of the last ~{count} messages; do not
investigate or verify anything: no source files, no git.

Only what the user wrote in their own words is saved at once. Keep those words. What tools, files,
web pages or you yourself said waits for the user's approval.

Existing notes:
{manifest}

Check this list before writing: update an existing note rather than creating a duplicate. If the
user asked you to remember something, save it as the type that fits best; if they asked you to
forget
something, remove it from the note it is in. Update or remove what turned out to be wrong.

{types}

{exclusions}

A note is one file for one topic, named by type and topic, such as feedback_testing.md:
---
name: <short name>
description: <one line by which its relevance is judged later; be specific>
type: <user, feedback, project or reference>
---
<the note>

Organise by topic, not by date. MEMORY.md is the index and follows the notes by itself. If there is
nothing worth keeping, say so and call no tool."""

AGAIN: Final = (
    "Those are the answers. Write everything that is to be written now, all of it at once; or say "
    "that there is nothing to write."
)

_OPERATORS = re.compile(r"[;&|<>`$(){}\n\\]")
_SHELL: Final = ("ls", "find", "cat", "stat", "wc", "head", "tail", "grep")


def prompt(count: int, place: str, manifest: str) -> str:
    """What a model is asked once a turn is over."""
    return PROMPT.format(
        count=count, place=place, manifest=manifest or "(none yet)", types=TYPES,
        exclusions=EXCLUSIONS,
    )  # fmt: skip


def _tool(name: str, description: str, **fields: str) -> Tool:
    properties = {
        field: {"type": "string", "description": about} for field, about in fields.items()
    }
    schema = {"type": "object", "properties": properties, "required": list(fields)}
    return Tool(name=name, description=description, schema=schema)


DESK_TOOLS: Final = (
    _tool("read", "Read a note.", path="The file."),
    _tool("grep", "Search the notes for words.", pattern="The words."),
    _tool("write", "Create a note, or replace it.", path="The file.", content="All of it."),
    _tool("edit", "Replace text in a note that was read.", path="The file.",
          old="Text that is in it exactly once.", new="What takes its place."),
)  # fmt: skip
"""The tools of a question that is put apart from a conversation."""


class Desk:
    """The notes as an extraction sees them: reads are answered, writes are laid aside."""

    def __init__(
        self, place: str, texts: Mapping[str, str], writes: Callable[[str], bool] | None = None
    ) -> None:
        """`writes` says which files may be written; without it notes may, and nothing beside."""
        self._writes = writes
        self._place = place.rstrip("/")
        self._texts = dict(texts)
        self._seen: set[str] = set()
        self._writing = False
        self.written: dict[str, str] = {}
        """What was written, by file."""

    def answer(self, calls: Sequence[ToolCall]) -> list[tuple[str, bool]]:
        """What each call of one reply is answered, and whether it failed."""
        found: list[tuple[str, bool]] = []
        wrote = False
        for call in calls:
            try:
                text, writes = self._done(call)
                wrote |= writes
                found.append((text, False))
            except InvalidRequest as denied:
                found.append((str(denied), True))
        self._writing |= wrote
        return found

    def _done(self, call: ToolCall) -> tuple[str, bool]:
        fields = arguments(call.input)
        reading = TOOLS.get(call.name)
        deed = reading.deed if reading else ""
        subject = text_of(fields, reading.subject) if reading else ""
        if deed in ("write", "edit"):
            return (self._write if deed == "write" else self._edit)(subject, fields), True
        if deed not in ("read", "look", "run"):
            raise InvalidRequest(
                f"{call.name} is denied: an extraction reads, searches, writes and edits notes only"
            )
        if self._writing:
            raise InvalidRequest(
                "something was written, and reads come first; write what is left to write"
            )
        if deed == "read":
            return self._read(subject), False
        if deed == "run":
            return self._shell(subject), False
        return self._look(call.name, fields), False

    def _name(self, path: str) -> str:
        """The file that a path names; InvalidRequest where it is not one of the notes."""
        name = path.removeprefix(f"{self._place}/") if self._place else path
        name = name.removeprefix("./")
        if name in self._texts or (self._writes and self._writes(name)):
            return name
        if not name or "/" in name or name.startswith(".") or not name.endswith(".md"):
            raise InvalidRequest(
                f"{path!r} is denied: name a note inside {self._place or 'memory'}"
            )
        return name

    def _read(self, path: str) -> str:
        name = self._name(path)
        if name not in self._texts:
            raise InvalidRequest(f"there is no note {name}; the list of existing notes has all")
        self._seen.add(name)
        return self._texts[name]

    def _write(self, path: str, fields: dict[str, Any]) -> str:
        name, content = self._name(path), fields.get("content")
        if not isinstance(content, str) or len(content) > LARGEST:
            raise InvalidRequest(
                f"{name}: content must be a text of at most {LARGEST:,} characters"
            )
        if self._follows(name):
            return "the index follows the notes by itself"
        self._texts[name] = self.written[name] = content
        return f"written {name}"

    def _edit(self, path: str, fields: dict[str, Any]) -> str:
        name = self._name(path)
        if self._follows(name):
            return "the index follows the notes by itself"
        if name not in self._seen:
            raise InvalidRequest(f"{name} was not read; read a note before you edit it")
        old = text_of(fields, ("old", "old_string", "oldString", "oldText"))
        new = text_of(fields, ("new", "new_string", "newString", "newText"))
        text = self._texts[name]
        if not old or text.count(old) != 1:
            raise InvalidRequest(f"{name}: give an old text that is in it exactly once")
        self._texts[name] = self.written[name] = text.replace(old, new)
        return f"changed {name}"

    def _follows(self, name: str) -> bool:
        """Whether a file is written by code alone; InvalidRequest where nobody may write it."""
        if self._writes is None:
            return name == INDEX
        if not self._writes(name):
            raise InvalidRequest(f"{name} is denied: it is laid out anew each time; read it only")
        return False

    def _look(self, tool: str, fields: dict[str, Any]) -> str:
        pattern = text_of(fields, ("pattern", "query", "path"))
        if tool.lower() in ("glob", "list", "ls", "list_directory"):
            shape = pattern.rpartition("/")[2] or "*"
            like = shape if set("*?[") & set(shape) or shape.endswith(".md") else "*"
            return "\n".join(name for name in sorted(self._texts) if fnmatchcase(name, like))
        return self._grep(pattern, sorted(self._texts))

    def _grep(self, pattern: str, names: Sequence[str]) -> str:
        words = pattern.strip("\"'").lower()[:200]  # no pattern of somebody else's is compiled
        return "\n".join(
            f"{name}:{number}:{line}"
            for name in names
            for number, line in enumerate(self._texts[name].splitlines(), 1)
            if words in line.lower()
        )[:20_000]

    def _shell(self, command: str) -> str:
        """What a command that only looks says; no shell is ever begun."""
        if _OPERATORS.search(command):
            raise InvalidRequest("denied: one plain command, without pipes, lists or redirection")
        try:
            program, *words = shlex.split(command)
        except ValueError:
            raise InvalidRequest("denied: the command cannot be read") from None
        if program not in _SHELL:
            raise InvalidRequest(f"{program} is denied: only {', '.join(_SHELL)} are permitted")
        if program == "find" and any(word.startswith("-") and word not in ("-name", "-type")
                                     for word in words):  # fmt: skip
            raise InvalidRequest("find is denied here with anything but -name and -type")
        commands: dict[str, Callable[[Sequence[str]], str]] = {
            "ls": self._listed, "stat": self._listed, "wc": self._listed, "cat": self._cat,
            "head": lambda words: self._part(words, last=False),
            "tail": lambda words: self._part(words, last=True),
            "find": self._found, "grep": self._grepped,
        }  # fmt: skip
        return commands[program](words)

    def _named(self, words: Sequence[str]) -> list[str]:
        """The notes that words of a command name; all of them where it names the directory."""
        paths = [word for word in words if not word.startswith("-") and not word.isdigit()]
        found: list[str] = []
        for path in paths:
            if path.rstrip("/") in ("", ".", self._place):
                found += sorted(self._texts)
            elif set("*?[") & set(path):
                shape = path.rpartition("/")[2]
                found += [name for name in sorted(self._texts) if fnmatchcase(name, shape)]
            elif (name := self._name(path)) in self._texts:
                found.append(name)
            else:
                raise InvalidRequest(f"there is no note {name}")
        return found if paths else sorted(self._texts)

    def _cat(self, words: Sequence[str]) -> str:
        names = self._named(words)
        self._seen |= set(names)
        return "\n".join(self._texts[name] for name in names)

    def _part(self, words: Sequence[str], *, last: bool) -> str:
        many = next(
            (int(found[1]) for word in words if (found := re.fullmatch(r"-?n?(\d+)", word))), 10
        )
        pieces = [self._texts[name].splitlines() for name in self._named(words)]
        return "\n".join(
            line for lines in pieces for line in (lines[-many:] if last else lines[:many])
        )

    def _listed(self, words: Sequence[str]) -> str:
        return "\n".join(f"{len(self._texts[name]):>7} {name}" for name in self._named(words))

    def _found(self, words: Sequence[str]) -> str:
        shape = words[words.index("-name") + 1] if "-name" in words[:-1] else "*"
        return "\n".join(name for name in sorted(self._texts) if fnmatchcase(name, shape))

    def _grepped(self, words: Sequence[str]) -> str:
        plain = [word for word in words if not word.startswith("-")]
        if not plain:
            raise InvalidRequest("grep needs what to look for")
        return self._grep(plain[0], self._named(plain[1:]))
