"""What a small model on this machine is good for: facts kept, tool calls, time to its first token.

Every model is a GGUF file, spoken to as the chat speaks to it: through the embedded provider, with
the agent's own instructions and tools. A call is valid where its tool is there and fits the task,
and its arguments are what that tool takes. Where a call is *required*, a grammar lets the model
write nothing else, so that what is measured is whether it chooses the right tool. It is greedy:
the same file gives the same answers.
"""

from __future__ import annotations

import os
import statistics
import time
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from bench.progress import Stage, silent
from bench.table import Table
from holdfast.agent.prompt import SYSTEM
from holdfast.agent.tools.toolbox import Toolbox
from holdfast.engine.bridge import drive
from holdfast.engine.plugins import codec, provider
from holdfast.errors import HoldfastError, ProviderError
from holdfast.model.message import Message, ToolCall
from holdfast.ports import Provider
from holdfast.providers.embedded import serve

ENOUGH = 10
"""So many valid calls of the tasks, and it may be called an agent's model."""

REPLY, SUMMARY = 80, 400
"""The longest answers, in tokens."""

CORES = 2

TASKS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("Read the file notes.txt.", ("read",), "notes.txt"),
    ("Show me what is in src/main.py.", ("read",), "src/main.py"),
    ("What does README.md say?", ("read",), "README.md"),
    ("Open config/settings.toml and tell me the port.", ("read", "grep"), "settings"),
    ("Run the command ls -la.", ("shell",), "ls -la"),
    ("Run the tests with pytest.", ("shell",), "pytest"),
    ("Which Python version is installed? Run python3 --version.", ("shell",), "python3 --version"),
    ("Show the git log with git log --oneline.", ("shell",), "git log"),
    ("Create a file hello.txt that says hello.", ("write", "shell"), "hello.txt"),
    ("Write the text 42 into answer.txt.", ("write", "shell"), "answer.txt"),
    ("Make a new file todo.md with the line: buy milk.", ("write", "shell"), "todo.md"),
    ("In app.py replace the text foo with bar.", ("edit",), "app.py"),
    ("Change version 1.0 to 1.1 in setup.cfg.", ("edit",), "setup.cfg"),
    ("Find all Python files in this project.", ("glob", "shell"), "py"),
    ("Which files end with .md?", ("glob", "shell"), "md"),
    ("Search for the word TODO in all files.", ("grep", "shell"), "TODO"),
    ("Where is the function parse_date defined?", ("grep", "shell"), "parse_date"),
    ("List what is in the directory src.", ("list", "shell"), "src"),
    ("Which files are in this directory?", ("list", "shell", "glob"), ""),
    ("Delete the file old.log with rm.", ("shell",), "old.log"),
)
"""What is asked, the tools that fit, and what the call must name."""

FACTS = (
    "Ada Winter", "Petrel", "8417", "Thursday", "blue", "harbor.toml", "Lisbon", "14:30",
    "migration 0042", "pytest -q", "max_retries", "rust", "billing", "17 euros", "staging-3",
    "Oskar",
)  # fmt: skip
"""What a summary has to name."""

STORY = (
    "My name is Ada Winter. The boat is called Petrel. The server listens on port 8417. "
    "The release is on Thursday. Buttons must be blue. Settings are in harbor.toml. "
    "The office is in Lisbon. The meeting is at 14:30. The login broke with migration 0042. "
    "Tests are run with pytest -q. The limit is called max_retries. The parser is written in rust. "
    "Never touch the billing service. The plan costs 17 euros. It was tried on staging-3. "
    "Oskar reviews the change."
)

AGAIN = (
    "Summarize this conversation for somebody who goes on with it. Name every person, number, "
    "file, command and rule that was said."
)


class Measured(msgspec.Struct):
    """What came of one file of weights."""

    name: str
    megabytes: float
    facts: int
    calls: int
    """Valid calls where the model chooses whether to call."""
    required: int
    """Valid calls where a call is required."""
    first: float
    """Seconds to the first token of a conversation, the definitions of all tools before it."""
    next: float
    """The median of those of later ones, which find the definitions cached."""


class Result(msgspec.Struct):
    """Every model, and how busy the machine was."""

    when: str
    load: float
    models: list[Measured]


def measure(files: tuple[Path, ...], tasks: int = len(TASKS), stage: Stage = silent) -> Result:
    """Every file in its turn."""
    tick = stage("asking", len(files) * (1 + 2 * tasks))
    found: list[Measured] = []
    for file in files:
        served = serve(str(file), threads=CORES)
        made = provider("openai", "openai-chat", key=served.key, url=served.url)
        with closing(made):
            found.append(_measured(file, made, tasks, tick))
        del made, served
    today = datetime.now(UTC).date().isoformat()
    return Result(today, round(os.getloadavg()[0], 1), found)


def _measured(file: Path, provider: Provider, tasks: int, tick: Any) -> Measured:
    waits: list[float] = []
    valid = {"auto": 0, "required": 0}
    for choice in valid:
        for task in TASKS[:tasks]:
            said, seconds = _asked(provider, task[0], choice)
            waits.append(seconds)
            valid[choice] += _valid(said, task)
            tick()
    summary, _ = _asked(provider, f"{STORY}\n\n{AGAIN}", "", most=SUMMARY)
    tick()
    kept = sum(fact.casefold() in summary.text.casefold() for fact in FACTS)
    first, later = waits[0], statistics.median(waits[1:] or waits)
    size = file.stat().st_size / 1e6
    return Measured(file.name, size, kept, valid["auto"], valid["required"], first, later)


def _asked(provider: Provider, words: str, choice: str, most: int = REPLY) -> tuple[Message, float]:
    """What a model says to that, and after how many seconds it began to."""
    request: dict[str, Any] = {
        "model": "m", "max_tokens": most, "temperature": 0, "stream": True,
        "messages": [{"role": "system", "content": SYSTEM}, {"role": "user", "content": words}],
    }  # fmt: skip
    if choice:
        request |= {"tools": DEFINITIONS, "tool_choice": choice}
    decoder = codec("openai-chat").decoder()
    began, first = time.monotonic(), 0.0
    try:
        flow = drive(provider.begin(request))
        while data := drive(flow.read()):
            first = first or time.monotonic() - began
            decoder.feed(data)
        drive(flow.close())
    except ProviderError:  # what the server itself cannot read as a call is none
        return Message("assistant", ()), first or time.monotonic() - began
    return decoder.close().message, first


def _valid(said: Message, task: tuple[str, tuple[str, ...], str]) -> bool:
    """Whether the first call is one of a fitting tool that takes these arguments."""
    _, fitting, named = task
    call = next(iter(said.calls), None)
    return call is not None and call.name in fitting and named in call.input and _takes(call)


def _takes(call: ToolCall) -> bool:
    try:
        fields = msgspec.json.decode(call.input or "{}", type=dict[str, Any])
        Toolbox(".").check(call.name, fields)
    except (msgspec.DecodeError, HoldfastError):
        return False
    return True


DEFINITIONS = [
    {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.schema,
        },
    }
    for tool in Toolbox(".").tools()
]


def table(result: Result) -> Table:
    """As the page has it."""
    heading = (
        "model", "size", f"facts kept of {len(FACTS)}", f"valid calls of {len(TASKS)}",
        "where a call is required", "first token", "later ones",
    )  # fmt: skip
    rows = [
        (
            one.name, f"{one.megabytes:,.0f} MB", str(one.facts), str(one.calls),
            str(one.required), f"{one.first:.1f} s", f"{one.next:.1f} s",
        )
        for one in result.models
    ]  # fmt: skip
    return Table(heading, rows)
