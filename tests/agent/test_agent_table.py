# ruff: noqa: E501
"""What the agent's tools, hooks and turns give: tests/golden/agent.txt.

Each line is a call of a tool, or something that happened in a turn and was told to whoever looks
on or measures. A change that is meant is taken over with

    python -m tests.agent.test_agent_table

and its difference read before it is committed.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from holdfast.agent.hooks import Hooks, hooks
from holdfast.agent.loop import Agent
from holdfast.agent.permissions.rules import Permissions
from holdfast.agent.summariser import Voice
from holdfast.agent.telemetry import language
from holdfast.agent.tools import shell
from holdfast.agent.tools.subtask import subtasks
from holdfast.agent.tools.toolbox import Toolbox
from holdfast.engine.bridge import spoken
from holdfast.engine.client import Holdfast, ThreadLock
from holdfast.engine.engine import Engine
from holdfast.engine.plugins import provider
from holdfast.errors import HoldfastError
from holdfast.model.log import Clear, PartRef, Summary
from holdfast.model.message import ToolCall, ToolResult
from holdfast.model.plan import Plan
from holdfast.model.span import Span
from holdfast.ports import Provider
from holdfast.stores.memory import MemoryStore
from holdfast.testing import StrictServer
from holdfast.testing.factories import entry
from holdfast.testing.strict.script import Ask, answer
from tests.changing import compare, short_hash
from tests.policies.playing import Clock, Models
from tests.policies.test_played import Counted

GOLDEN = Path(__file__).parents[1] / "golden" / "agent.txt"


def test_tools_hooks_and_turns_give_what_is_written_down(tmp_path: Path) -> None:
    compare(GOLDEN, described(tmp_path), "tests.agent.test_agent_table")


def described(place: Path) -> str:
    told = "\n".join(line for table in (_tools, _commands, _hooks, _turns) for line in table(place))
    return told.replace(str(place), "PLACE") + "\n"


def _given(call: Callable[[], Any], most: int = 400) -> str:
    try:
        text = repr(call())
    except (HoldfastError, OSError) as error:
        text = type(error).__name__
    return text if len(text) <= most else f"{text[: most - 20]} … {short_hash(text)}"


# Tools.


def _files(place: Path) -> Path:
    work = place / "tools"
    for name, text in {
        "a.py": "x = 1\ny = 2\nz = x + y\n", "src/b.py": "import a\n# x again\n", "src/deep/c.txt": "x\nx\nx\n",
        "docs/one.md": "# One\n", ".git/config": "x = 1\n", "node_modules/m.js": "x = 1\n", "open_end.txt": "no newline",
        "empty.txt": "", "long.txt": "".join(f"line {n}\n" for n in range(1, 501)),
    }.items():  # fmt: skip
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text(text, "utf-8")
    (work / "data.bin").write_bytes(b"a\0b")
    (work / "latin.txt").write_bytes(b"caf\xe9 x\n")
    (work / "run.sh").write_text("#!/bin/sh\n", "utf-8")
    (work / "run.sh").chmod(0o755)
    for n in range(210):
        (work / "many").mkdir(exist_ok=True)
        (work / "many" / f"f{n:03}.dat").write_text(f"needle {n}\n", "utf-8")
    return work


CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    *(("read", given) for given in (
        {"path": "a.py"}, {"path": "a.py", "offset": 2}, {"path": "a.py", "offset": 2, "limit": 1}, {"path": "a.py", "limit": 2},
        {"path": "a.py", "offset": 0, "limit": -3}, {"path": "a.py", "offset": 3}, {"path": "a.py", "offset": 4}, {"path": "a.py", "offset": 9}, {"path": "a.py", "offset": "2", "limit": True},
        {"path": "open_end.txt"}, {"path": "open_end.txt", "limit": 1}, {"path": "open_end.txt", "offset": 2}, {"path": "empty.txt"}, {"path": "empty.txt", "offset": 2}, {"path": "data.bin"}, {"path": "latin.txt"},
        {"path": "long.txt", "offset": 499}, {"path": "long.txt", "offset": 100, "limit": 3}, {"path": "b.py"}, {"path": "a.pyy"}, {"path": "zzzzzz"}, {"path": "src"}, {"path": "../x"}, {"path": "/etc/passwd"}, {"path": 7}, {})),
    *(("glob", {"pattern": one}) for one in ("*.py", "**/*.py", "src", "src/", "./src/**", "src/*.py", "docs/one.md", "nothing*", "*.dat", "?.py", "[ab].py", "src/nothing/*", ".", "a.py/x")),
    *(("grep", given) for given in (
        {"pattern": "x"}, {"pattern": "x", "path": "src"}, {"pattern": "^x$", "path": "*.txt"}, {"pattern": "x", "path": "a.py"}, {"pattern": "(", "path": "a.py"}, {"pattern": "nowhere"}, {"pattern": "needle"}, {"pattern": "x", "path": "nothing"}, {"path": "a.py"})),
    *(("list", given) for given in ({}, {"path": "src"}, {"path": "many"}, {"path": "a.py"}, {"path": "nothing"}, {"path": ".."})),
    *(("write", given) for given in (
        {"path": "new.txt", "content": "one\ntwo\n"}, {"path": "new.txt", "content": "one\nthree\n"}, {"path": "x/y/z.txt", "content": ""}, {"path": "run.sh", "content": "#!/bin/sh\nls\n"},
        {"path": "../x", "content": ""}, {"path": "a.py"}, {"path": "src", "content": "x"}, {"path": "latin2.txt", "content": "caf\udce9"})),
    *(("edit", given) for given in (
        {"path": "new.txt", "old": "three", "new": "four"}, {"path": "src/deep/c.txt", "old": "x", "new": "y"}, {"path": "src/deep/c.txt", "old": "x", "new": "y", "all": True}, {"path": "new.txt", "old": "gone", "new": "y"}, {"path": "new.txt", "old": "gone", "new": "y", "all": True},
        {"path": "new.txt", "old": "", "new": "y"}, {"path": "none.txt", "old": "a", "new": "b"}, {"path": "data.bin", "old": "a", "new": "b"}, {"path": "run.sh", "old": "ls", "new": "pwd"}, {"path": "latin.txt", "old": "x", "new": "z"}, {"path": "new.txt", "old": "one"})),
    *(("todo", given) for given in ({"todos": [{"content": "Look", "status": "done"}, {"content": "Mend"}, 7, {}]}, {"todos": []}, {"todos": "x"}, {})),
    *(("shell", given) for given in ({"command": "echo one; echo two >&2; exit 3"}, {"command": "true", "timeout": 0}, {"command": "printf x", "timeout": "9"}, {"command": 7}, {})),
    ("nothing", {}),
)  # fmt: skip


def _tools(place: Path) -> Iterator[str]:
    work = _files(place)
    box = Toolbox(str(work))
    for one in box.tools():
        yield f"tool {one.name}: {one.description} {one.schema}"
    for name, given in CALLS:
        told = str(given)
        if name in ("write", "edit", "read"):
            yield f"change {name} {told}: {_given(lambda name=name, given=given: box.change(name, given))}"
        yield f"check {name} {told}: {_given(lambda name=name, given=given: box.check(name, given))}"
        yield f"run {name} {told}: {_given(lambda name=name, given=given: box.run(name, given))}"
    yield f"todo: {box.todo}"
    for name in ("run.sh", "new.txt", "latin.txt", "latin2.txt"):
        yield f"{name}: {(work / name).stat().st_mode & 0o100:o} {(work / name).read_bytes()!r}"
    hidden = Toolbox(str(work), shows=lambda path: not path.startswith("src/"))
    yield f"hidden: {hidden.run('grep', {'pattern': 'x'})}"
    slow = Toolbox(str(work), seconds=0.0)
    yield f"no time: {slow.run('grep', {'pattern': 'x'})}"
    for path in ("a.py", "b.PY", "c.unknown", "noending", "d.tar.js", ""):
        yield f"language of {path!r}: {language({'path': path})}"
    yield f"language of nothing: {language({})}"


def _commands(place: Path) -> Iterator[str]:
    for sizes in ((0,), (5,), (200_000,), (200_001,), (150_000, 100_000), (400_000,), (400_001,), (200_000, 200_000, 1), (200_000, 199_999, 2, 3), (1, 500_000)):  # fmt: skip
        kept = shell.Kept()
        for nth, size in enumerate(sizes):
            kept.take(bytes([97 + nth]) * size)
        text = kept.text()
        between = re.search(r"\n\[.*?\]\n", text)
        yield f"kept of {sizes}: {len(text)} {between[0] if between else ''!r} {short_hash(text)}"
    here = str(place)
    for command, named in (
        ("echo out; echo err >&2", {}), ("echo out; echo err >&2", {"apart": True}), ("cat", {"told": b"said"}), ("cat", {}), ("exit 7", {}), ("kill -9 $$", {}), ("sleep 9", {"seconds": 0.3}),
        ("printf %s \"$OPENAI_API_KEY\"", {}), ("pwd", {}), ("printf no", {}), ("(sleep 9 &) ; echo left", {}), ("printf '\\377'", {}),
    ):  # fmt: skip
        given = {"seconds": 60.0, **named}
        yield f"ran {command!r} {named}: {_given(lambda command=command, given=given: shell.ran(command, here, **given))}"
    yield f"run: {shell.run('echo x; exit 2', here, 60)!r} {shell.run('sleep 9', here, -4)!r}"
    yield f"nowhere: {_given(lambda: shell.ran('ls', here + '/nowhere', 60.0))}"


# Hooks.

HOOKS = """
session_start = [{command = "echo Be quick."}, {command = "true"}, {command = "cat"}]
tool_output = [
    {command = "echo '{\\"output\\": \\"masked\\", \\"note\\": \\"and seen\\"}'", tools = ["read*"]},
    {command = "echo seen", tools = ["shell", "gr?p"]},
    {command = "echo wrong >&2; exit 3", tools = ["list"]},
    {command = "sleep 9", tools = ["todo"], seconds = 0.3},
    {command = "echo '{broken'", tools = ["glob"]},
    {command = "echo '[1]'", tools = ["edit"]},
]
before_compaction = [{command = "echo '{\\"instructions\\": \\"Keep it.\\"}'"}, {command = "echo plainly"}, {command = "true"}]
after_compaction = [{command = "cat > after.json; exit 4"}]
"""
AGAINST = """before_compaction = [{command = "echo '{\\"veto\\": \\"not now\\"}'"}, {command = "touch never"}]"""
PLAN = Plan(step="summarise", epoch=1, session="s", policy="p", trigger="auto", covers=(Span(1, 4), Span(6, 6)), before=900, promised=500)  # fmt: skip


def _read(place: Path, text: str) -> Hooks:
    file = place / "hooks.toml"
    file.write_text(text, "utf-8")
    return hooks(str(place), file)


def _hooks(place: Path) -> Iterator[str]:
    made, told = _read(place, HOOKS), list[str]()
    made.tell = lambda what: told.append(f"{what.kind} {bool(what.plan)} {what.entry and what.entry.seq}")  # fmt: skip
    yield f"started: {made.started('s1', 'new')!r}"
    for name in ("read", "read_more", "shell", "grep", "list", "todo", "glob", "edit", "write"):
        call = ToolCall("c", name, '{"path": "a"}')
        result = made.output("s1", call, ToolResult("c", "said\n", name=name))
        yield f"output of {name}: {made.sees(name)} {result.output!r} {result.error} {made.problems}"
        made.problems.clear()
    yield f"before: {made(PLAN)!r} {made.veto!r}"
    for body in (Summary(covers=(), text="t", model="m", tokens_before=9, tokens_after=4), Clear(parts=(PartRef(1, 0),), tokens_before=3)):  # fmt: skip
        made.after(entry(3, body))
        yield f"after: {(place / 'after.json').read_text()} {made.problems}"
    made.after(entry(4, "no marker"))
    yield f"told: {told} {len(made.problems)}"
    against = _read(place, AGAINST)
    yield f"against: {against(PLAN)!r} {against.veto!r} {against.problems} {(place / 'never').exists()}"
    for text in ("odd = 1", "tool_output = 7", "session_start = [{command = 1}]", "session_start = [{}]", ""):  # fmt: skip
        yield f"hooks of {text!r}: {_given(lambda text=text: _read(place, text).problems)}"
    yield f"no hooks: {_given(lambda: hooks(str(place), place / 'none.toml').sees('read'))}"


# Turns.

SCRIPT = (
    answer("I look.", Ask("read", {"path": "a.py"}), Ask("list", {"path": "src"}), Ask("grep", {"pattern": "import"})),
    answer("I change.", Ask("write", {"path": "n.py", "content": "a = 1\nb = 2\n"}), Ask("edit", {"path": "a.py", "old": "x = 1", "new": "x = 5"}), Ask("shell", {"command": "echo hunter2-secret"})),
    answer("I try.", Ask("shell", {"command": "rm -rf /"}), Ask("frobnicate", {"a": 1}), Ask("edit", {"path": "n.py", "old": 7}), Ask("read", {"path": "none.py"}), Ask("shell", {"command": "git() { echo '[main 1a2b3c4] x y'; }; git commit -m 'x y'"})),
    answer("I recall.", Ask("recall", {"handle": "#1"}), Ask("recall", {"handle": "nothing"}), Ask("search_history", {"query": "parser"}), Ask("todo", {"todos": [{"content": "a"}]})),
    answer("I have it done.", Ask("subtask", {"description": "Look around", "prompt": "Count the files."}), Ask("subtask", {"description": "x"})),
    answer("There are many files."),
    answer("All is done."),
    answer("They look at the parser, and nothing is left to do."),
)  # fmt: skip


class Measured:
    """Writes down what is told to whoever measures."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def emit(self, event: Any) -> None:
        self.lines.append(_without_times(event))


def _turns(place: Path) -> Iterator[str]:
    work, answers = _files(place / "turns"), iter(SCRIPT)
    lines, measured = list[str](), Measured()

    def look(what: Any) -> None:
        about = what.call or what.delta or what.words
        said = what.result.output if what.result else what.entry.body.text if what.entry else ""
        if what.kind != "delta":
            lines.append(f"{what.kind} {bool(what.subtask)}: {str(about)[:200]} {said[:200]!r}")

    def ask(asked: Any) -> Any:
        lines.append(f"asked {_call(asked)}")
        return "no" if "rm -rf" in str(asked) else "yes"

    with StrictServer(lambda asked: next(answers)) as server:
        engine = Engine(
            MemoryStore(), clock=Clock(), ids=Counted(), lock=ThreadLock, secrets=("hunter2-secret",),
            catalogue=Models(60_000, {}), voice=spoken, telemetry=measured,
        )  # fmt: skip
        with (
            Holdfast(engine) as hf,
            closing(provider("anthropic", "anthropic", key="k", url=server.url("anthropic"))) as to,
        ):
            s = hf.session("main", create=True, model="claude-sonnet-4-6", directory=work)
            made = Agent(
                s, to, Toolbox(str(work)), rules=Permissions(allow=("write", "edit")), ask=ask,
                system="Be careful.", onlooker=look, hooks=_read(place, 'session_start = [{command = "echo Hello."}]'),
            )  # fmt: skip
            last = made.turn("Mend the parser.")
            yield f"last: {last and last.body}"
            yield f"tools: {[one.name for one in made.tools()]}, said: {made.said}"
            yield from lines
            yield from (
                f"measured {line}" for line in sorted(measured.lines)
            )  # threads tell in any order
            yield from _left(hf, made)
            yield _summary(hf, to)
        for asked in server.asked:
            tools = [one["name"] for one in asked.body.get("tools", [])]
            yield f"sent: {len(asked.body['messages'])} {tools} {asked.rule}"


def _summary(hf: Holdfast, to: Provider) -> str:
    """What the agent's own summariser writes of the session."""
    with closing(Voice(lambda _: to)) as voice:
        return f"summary: {hf.session('main', summariser=voice).plan().summary!r}"


def _left(hf: Holdfast, made: Agent) -> Iterator[str]:
    """What a turn has left behind."""
    for one in made.session.entries():
        yield f"entry {one.seq} {_without_times(one.body)}"
    yield f"todo: {made.toolbox.todo}"
    yield f"subtasks: {[(one.title, one.head) for one in subtasks(hf, made.session.info)]}"


def _call(asked: Any) -> str:
    call = getattr(asked, "call", asked)
    return f"{getattr(call, 'name', call)} {getattr(call, 'input', '')}"


def _without_times(event: Any) -> str:
    text = re.sub(r"\b(at|started|ended|created|completed|milliseconds)=\d+(, )?", "", repr(event))
    text = re.sub(
        r"(toolu|msg|req|call)_\w+", r"\1_ID", re.sub(r"\b(usage|estimated)=.*", "", text)
    )
    return text if len(text) < 600 else f"{text[:560]} … {short_hash(text)}"


def main() -> None:
    """Write down what they give now."""
    with tempfile.TemporaryDirectory() as place:
        GOLDEN.write_text(described(Path(place)), "utf-8")


if __name__ == "__main__":
    main()
