# ruff: noqa: E501
# pyright: reportArgumentType=false, reportCallIssue=false
"""What every call of the public doors answers in one long story: tests/golden/doors.txt.

Each line is a call and what it gave, or how it was refused; the story is told to a store in memory
and to one in a file, which must answer alike. A change that is meant is taken over with

    python -m tests.engine.test_doors_table

and its difference read before it is committed.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from holdfast.engine.blocking import Session
from holdfast.engine.bridge import spoken
from holdfast.engine.client import Holdfast, ThreadLock
from holdfast.engine.engine import Engine
from holdfast.errors import HoldfastError
from holdfast.model.log import Checkpoint, Clear, PartRef, Summary
from holdfast.model.message import Media, Message, Text, ToolCall, ToolResult, assistant, tool, user
from holdfast.model.profile import Price
from holdfast.model.span import Span
from holdfast.model.window import Tool
from holdfast.ports import Store
from holdfast.stores.memory import MemoryStore
from holdfast.stores.sqlite.store import SqliteStore
from tests.changing import compare, short_hash
from tests.policies.playing import Clock, Models, Voice
from tests.policies.test_played import Counted

GOLDEN = Path(__file__).parents[1] / "golden" / "doors.txt"
STORES = ("memory", "file")
CLAUDE, GPT = "claude-sonnet-4-6", "gpt-5.1"
PRICES = (Price(input=3_000_000, output=15_000_000, cache_read=300_000, cache_write=3_750_000),)
KEY = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4"


@pytest.mark.parametrize("store", STORES)
def test_every_call_answers_what_is_written_down(store: str, tmp_path: Path) -> None:
    compare(GOLDEN, described(store, tmp_path), "tests.engine.test_doors_table")


def described(store: str, place: Path) -> str:
    made: Store = MemoryStore() if store == "memory" else SqliteStore.open(place / "store.db")
    story = Story(made, place)
    try:
        for part in (story.turns, story.markers, story.reading, story.settings, story.around,
                     story.of_the_store, story.exports, story.endings):  # fmt: skip
            story.lines.append(f"# {part.__name__}")
            part()
    finally:
        story.hf.close()
    return "\n".join(story.lines) + "\n"


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 20]} … {short_hash(text)}"


def claude(text: str, number: int, calls: list[Any] | None = None, **usage: int) -> dict[str, Any]:
    """A reply as Anthropic gives it."""
    content: list[Any] = [{"type": "text", "text": text}] if text else []
    content += [{"type": "tool_use", "id": id, "name": name, "input": given} for id, name, given in calls or ()]  # fmt: skip
    counted = {"input_tokens": 900 + number, "output_tokens": 40 + number, **usage}
    stop = "tool_use" if calls else "end_turn"
    return {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": CLAUDE,
            "content": content, "stop_reason": stop, "usage": counted}  # fmt: skip


def gpt(text: str, number: int) -> dict[str, Any]:
    """A reply as OpenAI's chat gives it."""
    return {"id": f"chatcmpl-{number}", "object": "chat.completion", "model": GPT, "choices": [
        {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": 700, "completion_tokens": 9, "total_tokens": 709}}  # fmt: skip


class Story:
    """One store, and what was asked of it."""

    def __init__(self, store: Store, place: Path) -> None:
        self.clock, self.place, self.lines = Clock(), place, list[str]()
        self.models = Models(40_000, {"prices": PRICES, "output_limit": 4_000})
        self.models.others[GPT] = {"provider": "openai", "window": 60_000}
        self.voice = Voice("They mend the parser. Its tests are open. See src/parser.py.")
        engine = Engine(
            store, clock=self.clock, ids=Counted(), lock=ThreadLock, catalogue=self.models,
            voice=spoken, secrets=("hunter2-secret",),
        )  # fmt: skip
        self.hf = Holdfast(engine)
        self.work = self.place / "work"
        self.work.mkdir()
        self.s: Session = self.hf.session(
            "main", create=True, model=CLAUDE, directory="/nowhere/project", title="Mend it",
            summariser=self.voice, weak_model="",
        )  # fmt: skip

    def told(self, name: str, call: Callable[[], Any], most: int = 420) -> Any:
        """Write down what a call gives, or how it is refused."""
        try:
            found = call()
            found = list(found) if isinstance(found, Iterator) else found
            text = repr(getattr(found, "info", found))
        except HoldfastError as error:
            found, text = None, type(error).__name__
        self.lines.append(f"{name}: {_short(self.anywhere(text), most)}")
        return found

    def anywhere(self, text: str) -> str:
        """A text that is the same wherever the test has run."""
        place = str(self.place)
        return text.replace(place, "PLACE").replace(re.sub(r"[^A-Za-z0-9]", "-", place), "-PLACE")

    def all(self, name: str, method: Callable[..., Any], *cases: Any, **named: Any) -> None:
        for case in cases:
            given = case if isinstance(case, tuple) else (case,)
            self.told(f"{name}{given!r}", lambda given=given: method(*given, **named))

    def window(self, name: str, **asking: Any) -> Any:
        """A window, written down by its blocks."""
        made = self.s.window(**asking)
        self.lines.append(f"{name}:")
        for one in made.blocks:
            self.lines.append(f"  {one.section} {one.role} {one.seq} {one.tokens} {one.source} | {one.rule} | {short_hash(repr(one.parts))}")  # fmt: skip
        self.lines.append(f"  {made.window.tokens} {made.window.breakpoints} {made.window.over} {[t.name for t in made.window.tools]}")  # fmt: skip
        return made

    def turns(self) -> None:
        s, tools = self.s, [Tool(name="read", description="Read a file.", schema={"type": "object"})]  # fmt: skip
        self.told("user", lambda: s.user("Mend the parser in src/parser.py. Never touch docs/."))
        self.told("user again", lambda: s.user("Use tabs.", key="once"))
        self.told("user the same", lambda: s.user("Use tabs.", key="once"))
        self.told("user another", lambda: s.user("Use blanks.", key="once"))
        made = self.window("window", system="You are careful.", tools=tools, context={"cwd": "/p", "date": "today"})  # fmt: skip
        for format in ("anthropic", "openai-chat", "openai-responses", "gemini", "odd"):
            self.told(f"request {format}", lambda format=format: made.request(format))
        self.told("reply", lambda: s.reply(claude("I look.", 1, [("c1", "read", {"path": "src/parser.py"}), ("c2", "read", {"path": "b"})], cache_creation_input_tokens=700)))  # fmt: skip
        self.told("reply again", lambda: s.reply(claude("I look.", 1, [("c1", "read", {"path": "src/parser.py"}), ("c2", "read", {"path": "b"})], cache_creation_input_tokens=700)))  # fmt: skip
        self.told("states", s.tool_states)
        self.told("result", lambda: s.tool_result("c1", "def parse(): ...\n" * 60))
        self.told("failed result", lambda: s.tool_result("c2", "no such file", error=True))
        self.told("result of nothing", lambda: s.tool_result("c9", "x"))
        self.window("window", system="You are careful.", tools=tools, context={"cwd": "/p", "date": "tomorrow"}).request("anthropic")  # fmt: skip
        self.told("reply", lambda: s.reply(claude("It was the comma in `parse`. Done.", 2, cache_read_input_tokens=700)))  # fmt: skip
        self.told("status", s.status)
        self.told("snapshot", s.snapshot)
        self.told("speak", lambda: s.user(f"The key is {KEY} and hunter2-secret; see it."))
        self.told("preview", lambda: s.preview(system="x", max_tokens=100).window.tokens)
        self.window("given much", system="Be brief.", instructions="Rules. " * 20, memory="It rained. " * 30,
                    examples=[user("an example"), assistant("its answer")], chat_files="a.py:\nx = 1", reminder="Soon.",
                    max_tokens=500)  # fmt: skip
        self.all("refused window", lambda **given: s.window(**given))
        for given in ({"max_tokens": 40_000}, {"max_tokens": -1}, {"policy": "nobody"}, {"system": 7}, {"modle": "x"}, {"tools": [7]}, {"model": GPT}):  # fmt: skip
            self.told(f"window {given}", lambda given=given: s.window(**given).window.tokens)
        self.told("reply of nobody", lambda: s.reply({"odd": 1}))
        self.told("append", lambda: s.append_all([assistant("One.", ToolCall("d1", "bash", '{"command": "make test"}')), tool(ToolResult("d1", "3 passed " * 200, name="bash")), assistant("All pass.")], key="three"))  # fmt: skip
        self.told("append again", lambda: len(s.append_all([assistant("One.", ToolCall("d1", "bash", '{"command": "make test"}')), tool(ToolResult("d1", "3 passed " * 200, name="bash")), assistant("All pass.")], key="three")))  # fmt: skip
        self.told("picture", lambda: s.user("Look.", Media("image/png", b"\x89PNG" + b"x" * 90, name="a.png", width=640, height=480)))  # fmt: skip
        for n in range(5):
            s.user(f"Step {n}: mend part_{n}.py, please, and say when it is done.")
            s.append(assistant(f"Part {n} is done. " + f"The function fix_{n} was changed in part_{n}.py. " * 40))  # fmt: skip

    def markers(self) -> None:
        s = self.s
        for what in (1, "#2", "prt_x", 99, "last", "", 0, -1):
            self.told(f"pin {what!r}", lambda what=what: s.pin(what))
        self.told("pin fact", lambda: s.pin(fact="The comma matters."))
        self.told("pin both", lambda: s.pin(1, fact="x"))
        self.told("pin path", lambda: s.pin(path="notes.md"))
        self.told("pin path away", lambda: s.pin(path="../outside.md"))
        self.window("pinned", system="x")
        self.told("unpin", lambda: s.unpin(s.view().folded.pins[0].id))
        self.told("unpin again", lambda: s.unpin("#1"))
        self.told("folded", lambda: s.view().folded)
        planned = self.told("plan", lambda: s.plan(instructions="Keep the comma."))
        for given in ({"since": 3}, {"upto": 5}, {"model": GPT}, {"step": "prune"}, {"odd": 1}):
            self.told(f"plan {given}", lambda given=given: s.plan(**given))
        self.told("apply", lambda: s.apply(planned))
        self.told("apply again", lambda: s.apply(planned))
        self.window("compacted", system="x")
        self.told("retention", lambda: s.retention())
        self.told("retention of none", lambda: s.retention(1))
        for seq in range(1, s.info.head + 2):
            self.told(f"why absent {seq}", lambda seq=seq: s.why_absent(seq))
        self.told("why absent part", lambda: s.why_absent(s.entry(3).id))
        self.told("undo", lambda: s.undo())
        self.told("undo again", lambda: s.undo())
        self.told("undo what is none", lambda: s.undo(1))
        self.told("redo", lambda: s.redo())
        self.told("redo again", lambda: s.redo())
        self.told("clear", lambda: s.append(Clear(parts=(PartRef(6, 0),), reason="old")))
        self.told("checkpoint", lambda: s.append(Checkpoint(label="here")))
        self.told("wrong summary", lambda: s.append(Summary(covers=(Span(90, 99),), text="x")))
        self.told("rewind", lambda: s.rewind(18, "not so"))
        self.told("rewound", lambda: [one.seq for one in s.visible()])
        self.told("undo of the clearing", lambda: s.undo(s.info.head - 2))
        self.all("rewind", s.rewind, 0, 999, "x", -1, 20)
        self.told("all", lambda: [(one.seq, type(one.body).__name__, one.counts) for one in s.entries()], 3_000)  # fmt: skip
        self.told("seen at 8", lambda: [one.seq for one in s.visible(8)])
        self.told("view", lambda: s.view("10"))

    def reading(self) -> None:
        s = self.s
        entry = s.entry(6)
        self.all("entry", s.entry, 1, "#3", "6", entry.id, "prt_1.0", 0, 999, "x", "")
        self.all("seq", s.seq, 1, "#3", entry.id, 999, "nobody")
        for handle in ("#1", "#6", f"prt_{entry.id}.0", f"prt_{entry.id}.9", "#2-#5", "#5-#2", "#1-#999", "odd", 3, "", "[#3]"):  # fmt: skip
            self.told(f"recall {handle}", lambda handle=handle: s.recall(handle, tokens=120))
        self.told("recall on", lambda: s.recall("#6", offset=500, tokens=60))
        self.told("recall behind", lambda: s.recall("#6", offset=99_999))
        self.told("recall wrongly", lambda: s.recall("#6", offset=-4, tokens=-1))
        for words in ("comma", "part_3.py", "nowhere", "", "hunter2", '"odd'):
            self.told(
                f"search_history {words}",
                lambda words=words: sorted(s.search_history(words, 50).splitlines()),
            )
        for name, given in (("recall", '{"handle": "#1"}'), ("recall", '{"handle": "#6", "offset": 40}'), ("recall", "{}"), ("recall", "odd"), ("search_history", '{"query": "elsewhere"}'),
                            ("search_history", '{"query": "fix_2", "limit": 1}'), ("search_history", '{"limit": "x"}'), ("read", "{}"), ("tool_search", '{"query": "x"}')):  # fmt: skip
            self.told(f"answer {name} {given}", lambda name=name, given=given: s.run_context_tool(ToolCall("q", name, given)))  # fmt: skip
        self.told("explain now", s.explain_now)
        self.told("explain for another", lambda: s.explain_now(GPT).count)
        self.told("foreseen", s.next_summary)
        self.told("size", s.size)
        self.told("cost", lambda: s.cost)
        self.told("warm in", s.warm_in)
        self.told("ledger", s.ledger, 900)
        calls = [entry.request for entry in s.entries() if entry.request]
        self.told("calls", lambda: len(calls))
        for one in ("", *calls[:2], "nobody"):
            found = self.told("explain a call", lambda one=one: s.explain(one))
            if found:
                self.lines += [f"  {line}" for line in found.lines]

    def settings(self) -> None:
        s = self.s
        self.told("policy", lambda: short_hash(repr(s.policy())))
        self.told("policy codex", lambda: s.policy("codex").name)
        self.all("policy", lambda name: s.policy(name).name, "nobody", "claude-cod", 7)
        self.told("set policy", lambda: s.set_policy("codex"))
        self.told("set policy the same", lambda: s.set_policy("codex"))
        self.all("set policy", s.set_policy, "nobody", "", 7)
        own = replace(s.policy("holdfast"), name="own")
        self.told("set own policy", lambda: s.set_policy(own))
        self.window("under its own", system="x")
        self.told("set model", lambda: s.set_model(GPT))
        self.window("for another", system="x").request("openai-chat")
        self.told("reply of another", lambda: s.reply(gpt("Of course.", 3)))
        self.told("back", lambda: s.set_model(CLAUDE))
        self.all("set model", s.set_model, "", 7, "unheard-of")
        s.set_model(CLAUDE)
        for message in ("prompt is too long: 41000 tokens > 30000 maximum", "prompt is too long", "tool_use ids must be unique", "max_tokens: 9000 > 3000, which is the maximum allowed number of output tokens", "internal error", ""):  # fmt: skip
            self.window("before it is refused", system="x").request("anthropic")
            self.told(f"refused {message}", lambda message=message: s.learn_refusal(message))
        self.window("after what was refused", system="x")
        self.all("rename", s.rename, "Another title", "", f"with {KEY}")
        self.told("weak model", lambda: s.set_weak_model("claude-haiku-4-5"))
        self.told("status", s.status, 900)

    def around(self) -> None:
        s, hf = self.s, self.hf
        fork = self.told("fork", lambda: s.fork(10)) and s.fork(10)
        self.told("forks", lambda: [(one.id, one.parent, one.fork) for one in hf.forks(s.info)])
        self.told("fork said", lambda: fork.user("Here it goes on otherwise."))
        self.told("fork seen", lambda: [one.seq for one in fork.visible()])
        self.all("fork", s.fork, 0, 999, "x")
        task = self.told("subtask", lambda: s.subtask("Look around")) and s.subtask("Look again")
        self.told("subtask said", lambda: task.user("Look."))
        self.told("child", lambda: s.child(task.id).info)
        self.all("child", s.child, "nobody", "", s.id)
        self.told("archive", lambda: fork.archive())
        self.told("back again", lambda: fork.archive(False))
        self.told("archived", lambda: fork.archive())
        first, second = hf.session(s.id), hf.session(s.id, on_conflict="raise")
        self.told("first", lambda: first.user("from the first"))
        self.told("second", lambda: second.user("from the second"))
        self.told("after a look", lambda: (second.refresh(), second.user("now")))
        self.told("capped", lambda: hf.session(s.id, cap=0.000001).window(system="x").request("anthropic"))  # fmt: skip
        self.all("session", lambda **given: hf.session(**given))
        for given in ({"id": "nobody"}, {"id": "main", "title": "x"}, {"on_conflict": "odd"}, {"id": "", "create": True}, {"id": "ä", "create": True}, {"cap": -1}):  # fmt: skip
            self.told(f"session {given}", lambda given=given: hf.session(**given).info)

    def of_the_store(self) -> None:
        hf = self.hf
        empty = hf.session(title="empty")
        other = hf.session("other", create=True, directory=self.work, model=GPT)
        (self.work / "notes.md").write_text("Remember the comma.\n", "utf-8")
        for path in ("notes.md", "../store.db", "none.md", "/etc/passwd", ""):
            self.told(f"pin path {path}", lambda path=path: other.pin(path=path))
        other.append(Message("user", (Text("Find the comma elsewhere."),)))
        self.told("sessions", lambda: [(one.id, one.title, one.head, one.updated) for one in hf.sessions()])  # fmt: skip
        self.told("all sessions", lambda: [(one.id, one.archived) for one in hf.every_session()])
        pages = self.told("two", lambda: [one.id for one in hf.sessions(limit=2)])
        self.told("behind", lambda: [one.id for one in hf.sessions(limit=2, after=hf.resolve(pages[-1]))])  # fmt: skip
        self.told("of a project", lambda: [one.id for one in hf.sessions(project=str(self.place))])
        self.told("archived ones", lambda: [one.id for one in hf.sessions(archived=True)])
        self.told("opening", lambda: [hf.opening(one) for one in hf.every_session()])
        self.all("resolve", lambda *given: hf.resolve(given[0], prefix=given[1]).id, ("main", False), ("mai", False), ("mai", True), ("0000000000", True), ("zzz", True), ("", True))  # fmt: skip
        while hf.index():
            pass
        for given in ({}, {"session": "main"}, {"session": "other"}, {"role": "assistant"}, {"role": "odd"}, {"kind": "tool_result"}, {"since": self.clock.ms}, {"until": 1}, {"project": str(self.place)}, {"odd": 1}, {"limit": 0}):  # fmt: skip
            self.told(self.anywhere(f"search {given}"), lambda given=given: sorted((one.session, one.seq, one.ordinal) for one in hf.search("comma", **given)))  # fmt: skip
        for words in ("comma elsewhere", '"the comma"', "part_3.py", "fix_2 changed", "nowhere", "-", "comm", "comma OR part_4.py"):  # fmt: skip
            self.told(f"search {words}", lambda words=words: sorted({(one.session, one.seq) for one in hf.search(words, limit=50)}))  # fmt: skip
        self.all("respelled", hf.respelled, "coma", "comma", "elsewere parser", "")
        for by in ("day", "week", "month", "block", "model", "session", "project", "agent", "cause", "odd"):  # fmt: skip
            self.told(f"costs by {by}", lambda by=by: hf.costs(by))
        for given in ({"session": "main"}, {"session": "other"}, {"project": str(self.place)}, {"agent": "x"}, {"since": self.clock.ms}, {"until": 1}):  # fmt: skip
            self.told(self.anywhere(f"costs {given}"), lambda given=given: hf.costs("model", **given))  # fmt: skip
        for by in ("agent", "project", "model", "odd"):
            self.told(f"stats by {by}", lambda by=by: hf.stats(by))
        self.told("stats since", lambda: hf.stats("model", since=self.clock.ms))
        self.told("discard", lambda: (hf.discard(empty.id), hf.discard("main"), empty.id))
        self.told("discard nobody", lambda: hf.discard("nobody"))

    def exports(self) -> None:
        hf = self.hf
        for to in ("portable", "markdown", "html", "claude-code", "codex", "anthropic", "openai-chat", "openai-responses", "odd"):  # fmt: skip
            for given in ({}, {"raw": True}, {"boundaries": True}, {"model": GPT}):

                def made(to: str = to, given: dict[str, Any] = given) -> Any:
                    found = hf.export("main", to, **given)
                    data = self.anywhere(found.data.decode())
                    return len(data), short_hash(data), KEY in data, found.fidelity

                self.told(f"export {to} {given}", made, 700)
        file = self.place / "out.json"
        self.told("export to a file", lambda: hf.export("main", file=file).fidelity.carried)
        self.told("imported", lambda: list(hf.import_from(file)))
        for to in ("claude-code", "codex", "chat", "markdown", "odd"):
            self.told(f"handed to {to}", lambda to=to: hf.handoff("main", to, home=self.place / "home"))  # fmt: skip
        for given in ({"limit": 2}, {"offset": 1}, {"offset": 4, "limit": 2}, {"offset": 6, "limit": 5}, {"offset": 9}):  # fmt: skip
            self.told(f"so many {given}", lambda given=given: len(hf.search("comma", **given)))
        self.told("examined", hf.examine)
        self.told("examined one", lambda: hf.examine("main"))

    def endings(self) -> None:
        hf, s = self.hf, self.s
        self.told("erased", lambda: hf.erase("other", background=False))
        self.told("erased again", lambda: hf.erase("other"))
        self.told("erased main", lambda: hf.erase("main", background=False))
        self.told("gone", lambda: s.user("Is anybody there?"))
        self.told("left", lambda: [(one.id, one.head) for one in hf.every_session()])
        self.told("search", lambda: sorted({(one.session, one.seq) for one in hf.search("comma")}))
        self.told("fork lives", lambda: [[one.seq for one in hf.session(o.id).visible()] for o in hf.every_session()])  # fmt: skip
        self.told("finished", hf.finish_erasing)


def main() -> None:
    """Write down what the doors answer now."""
    with tempfile.TemporaryDirectory() as place:
        GOLDEN.write_text(described("memory", Path(place)), "utf-8")


if __name__ == "__main__":
    main()
