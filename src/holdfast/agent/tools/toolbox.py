"""What the agent can do: read, write and edit files, run commands, look around, plan.

Rule 1: every path lies beneath the directory the agent works in; none leads out of it.
Rule 2: a tool answers with text; what goes wrong is an answer that says so, never a crash.
Rule 3: everything ends: commands are stopped after a time, and no answer is without bounds.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Final

from msgspec import Struct

from holdfast.agent.tools.find_files import BINARY, LARGEST, absent, files
from holdfast.agent.tools.grep import HITS, SECONDS, Search
from holdfast.agent.tools.read_file import lines_of
from holdfast.agent.tools.shell import run
from holdfast.core.ledger.facts.effort import changed
from holdfast.engine.workspace.workspaces import Workspace
from holdfast.errors import HoldfastError, InvalidRequest
from holdfast.files import Root
from holdfast.model.window import Tool


class Toolbox:
    """The tools of an agent that works in one directory."""

    def __init__(
        self,
        directory: str,
        stop: threading.Event | None = None,
        shows: Callable[[str], bool] = lambda _: True,
        seconds: float = SECONDS,
    ) -> None:
        self.root = Root(directory)
        self.stop = stop
        """Set by whoever interrupts; only what runs beside the main thread looks."""
        self.shows = shows
        """Whether a search may show lines of a file."""
        self._seconds = seconds
        self.workspace: Workspace | None = None
        """Records what is done to files, so that it can be taken back."""
        self.task = ""
        """The session of the subtask that these are the tools of."""
        self.todo: list[dict[str, str]] = []

    def tools(self) -> list[Tool]:
        """As a model is told of them."""
        return [one.tool for one in SPECS.values()]

    def run(self, name: str, fields: dict[str, Any]) -> str:
        """Do what a call asks for; InvalidRequest, Unsafe or OSError say what is wrong with it."""
        if name not in SPECS:
            raise InvalidRequest(f"there is no tool {name!r}; name one of {', '.join(SPECS)}")
        self.check(name, fields)
        try:
            with self._recorded(name, fields):
                return SPECS[name].act(self, fields)
        except FileNotFoundError as error:
            path = fields.get("path")
            raise (
                InvalidRequest(absent(self.root, path)) if isinstance(path, str) else error
            ) from error

    def _recorded(self, name: str, fields: dict[str, Any]) -> AbstractContextManager[Any]:
        """Record what a call does to files, where somebody does."""
        if self.workspace is not None and name in CHANGING:
            path = "/".join(self.root.names(fields["path"]))
            return self.workspace.recording(path, cause="tool", task=self.task)
        if self.workspace is not None and name == "shell":
            return self.workspace.recording(cause="command", task=self.task)
        return nullcontext()

    def check(self, name: str, fields: dict[str, Any]) -> None:
        """Raise InvalidRequest or Unsafe where a call must fail in any case; reads no file."""
        needs = SPECS[name].needs if name in SPECS else ()
        missing = [field for field in needs if not isinstance(fields.get(field), str)]
        if missing:
            raise InvalidRequest(f"{name} needs {', '.join(missing)} as text")
        if name in CHANGING:
            self.root.names(fields["path"])

    def read(self, fields: dict[str, Any]) -> str:
        first, many = _number(fields, "offset", 1), _number(fields, "limit", 0)
        return lines_of(self.root, fields["path"], max(first, 1), max(many, 0))

    def write(self, fields: dict[str, Any]) -> str:
        path, content = fields["path"], fields["content"]
        before = self._maybe(path)
        if "/" in path:
            self.root.make_directory(path.rsplit("/", 1)[0], 0o755)
        self.root.write(path, content.encode("utf-8", "surrogateescape"), self._mode(path))
        made = "created" if before is None else "replaced"
        return f"{made} {path} ({changed(before or '', content)})"

    def edit(self, fields: dict[str, Any]) -> str:
        path, old, new = fields["path"], fields["old"], fields["new"]
        text = self._text(path)
        many = text.count(old) if old else 0
        if many != 1 and not (many and fields.get("all")):
            found = "is not in it" if not many else f"is in it {many} times"
            raise InvalidRequest(
                f"{path}: the old text {found}; give text that is there exactly once"
            )
        after = text.replace(old, new)
        self.root.write(path, after.encode("utf-8", "surrogateescape"), self._mode(path))
        return f"changed {path} in {many} place{'s' if many > 1 else ''} ({changed(text, after)})"

    def change(self, name: str, fields: dict[str, Any]) -> tuple[str, str] | None:
        """A file before and after a call; None where it changes none, or will fail."""
        told = {field: value for field, value in fields.items() if isinstance(value, str)}
        if name not in CHANGING or set(SPECS[name].needs) - set(told):
            return None
        before = self._maybe(told["path"])
        if name == "write":
            return before or "", told["content"]
        many = (before or "").count(told["old"]) if told["old"] else 0
        if before is None or not (many == 1 or (many and fields.get("all"))):
            return None
        return before, before.replace(told["old"], told["new"])

    def shell(self, fields: dict[str, Any]) -> str:
        return run(
            fields["command"], str(self.root.path), _number(fields, "timeout", 120), self.stop
        )

    def glob(self, fields: dict[str, Any]) -> str:
        found = [one.path for one in files(self.root, fields["pattern"])]
        return _some(found) or "no file matches"

    def grep(self, fields: dict[str, Any]) -> str:
        like = str(fields.get("path") or "")
        search = Search(self.root, self.shows, self._seconds, self.stop)
        return search.run(fields["pattern"], like)

    def list(self, fields: dict[str, Any]) -> str:
        found = self.root.listing(str(fields.get("path") or "."))
        lines = [f"{one.path}{'/' if one.kind == 'directory' else ''}" for one in found]
        return _some(lines) or "it is empty"

    def plan(self, fields: dict[str, Any]) -> str:
        steps = fields.get("todos")
        if not isinstance(steps, list):
            raise InvalidRequest("todo needs todos, a list of {content, status}")
        told = [one for one in steps if isinstance(one, dict)]
        self.todo = [
            {"content": str(one.get("content", "")), "status": str(one.get("status", "pending"))}
            for one in told
        ]
        return "\n".join(f"[{one['status']}] {one['content']}" for one in self.todo) or "no steps"

    def _text(self, path: str) -> str:
        data = self.root.read(path, LARGEST)
        if b"\0" in data[:BINARY]:
            raise InvalidRequest(f"{path} is no text")
        return data.decode("utf-8", "surrogateescape")

    def _maybe(self, path: str) -> str | None:
        try:
            return self._text(path)
        except (HoldfastError, OSError):
            return None

    def _mode(self, path: str) -> int:
        try:
            return self.root.stat(path).st_mode & 0o777
        except (HoldfastError, OSError):
            return 0o644


class Spec(Struct, frozen=True):
    """One tool: as a model is told of it, and what it does."""

    tool: Tool
    act: Callable[[Toolbox, dict[str, Any]], str]
    needs: tuple[str, ...]


def _spec(
    name: str, description: str, act: Callable[[Toolbox, dict[str, Any]], str], **fields: str
) -> Spec:
    """A tool whose fields are told as `type: what it is`; those that end with `?` may be absent."""
    properties: dict[str, Any] = {}
    needs: list[str] = []
    for field, told in fields.items():
        kind, _, about = told.partition(": ")
        properties[field] = {"type": kind.rstrip("?"), "description": about}
        if not kind.endswith("?"):
            needs.append(field)
    schema = {"type": "object", "properties": properties, "required": needs}
    texts = tuple(field for field in needs if properties[field]["type"] == "string")
    return Spec(Tool(name=name, description=description, schema=schema), act, texts)


CHANGING: Final = frozenset({"write", "edit"})
"""Tools that change the file they name."""

_PATH = "string: A path relative to the working directory."

SPECS: Final[dict[str, Spec]] = {
    one.tool.name: one
    for one in (
        _spec("read", "Read a text file, or some lines of it.", Toolbox.read, path=_PATH,
              offset="integer?: The first line.", limit="integer?: How many lines."),
        _spec("write", "Create a file, or replace it.", Toolbox.write, path=_PATH,
              content="string: All of its content."),
        _spec("edit", "Replace text in a file.", Toolbox.edit, path=_PATH,
              old="string: Text that is in it exactly once.", new="string: What takes its place.",
              all="boolean?: Replace it everywhere."),
        _spec("shell", "Run a command in the working directory.", Toolbox.shell,
              command="string: The command line.", timeout="integer?: Seconds; 120 if left out."),
        _spec("grep", "Search files by a regular expression.", Toolbox.grep,
              pattern="string: The expression.", path="string?: Only this, or files like it."),
        _spec("glob", "Find files by name.", Toolbox.glob, pattern="string: Such as src/**/*.py."),
        _spec("list", "List a directory.", Toolbox.list, path="string?: Which one."),
        _spec("todo", "Write down the steps of the work, and how far they are.", Toolbox.plan,
              todos="array: Objects with content and status."),
    )
}  # fmt: skip


def _number(fields: dict[str, Any], name: str, default: int) -> int:
    value = fields.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else default


def _some(names: list[str]) -> str:
    """As many names as are shown, and how many more there are."""
    more = [f"[… and {len(names) - HITS:,} more]"] if len(names) > HITS else []
    return "\n".join((*names[:HITS], *more))
