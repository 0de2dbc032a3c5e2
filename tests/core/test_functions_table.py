# ruff: noqa: E501
# pyright: reportArgumentType=false
"""What functions of the core make of chosen values: tests/golden/functions.txt.

Each line is one call and what it gave. The values stand on both sides of every limit, and each has
one thing that another has not. A change that is meant is taken over with

    python -m tests.core.test_functions_table

and its difference read before it is committed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from holdfast.core.calls import refusals
from holdfast.core.compaction import provider_edits
from holdfast.core.extract import digest, extract, name_index, names, quotes
from holdfast.core.extract.extract import digested, dwelt, listing
from holdfast.core.extract.quotes import choose, promising
from holdfast.core.ledger.build import ledger
from holdfast.core.ledger.checks import claims, matching, mentions
from holdfast.core.ledger.checks.mentions import Known
from holdfast.core.ledger.checks.objections import kept, objections
from holdfast.core.ledger.checks.retention import retention
from holdfast.core.ledger.render import render
from holdfast.core.log import tool_calls, transcript_text, validate
from holdfast.core.window import explain, recall
from holdfast.errors import InvalidRequest
from holdfast.model.ledger import Ledger, Request
from holdfast.model.log import Clear, Entry, Handle, PartRef, Repair, Rewind, Summary
from holdfast.model.message import (
    Media,
    Message,
    Opaque,
    Reasoning,
    Subtask,
    SummaryText,
    Text,
    ToolCall,
    ToolResult,
    assistant,
    seal,
    tool,
    user,
)
from holdfast.model.profile import Price, Profile
from holdfast.model.reply import Edit, Usage
from holdfast.model.span import Span
from holdfast.model.window import Block, Budget, Count, Tool, Window
from holdfast.testing.factories import NOON, entry
from tests.changing import compare, short_hash
from tests.ledger.saying import asked, done, ran, said, used

GOLDEN = Path(__file__).parents[1] / "golden" / "functions.txt"


def test_every_function_gives_what_is_written_down() -> None:
    compare(GOLDEN, described(), "tests.core.test_functions_table")


def described() -> str:
    return "".join(f"{line}\n" for table in TABLES for line in table())


def _said(name: str, function: Callable[..., Any], cases: Iterable[Any]) -> Iterator[str]:
    """A line for each call: what it was given, and what it gave."""
    for case in cases:
        given = case if isinstance(case, tuple) else (case,)
        told = ", ".join(_short(repr(one), 120) for one in given)
        yield f"{name}({told}) = {_short(_given(function, given), 400)}"


def _given(function: Callable[..., Any], given: tuple[Any, ...]) -> str:
    try:
        found = function(*given)
    except InvalidRequest:
        return "InvalidRequest"
    if isinstance(found, frozenset | set):
        return repr(sorted(found))
    return repr(list(found) if isinstance(found, Iterator) else found)


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 20]} … {short_hash(text)}"


def _text(title: str, text: str) -> Iterator[str]:
    """A text, each of its lines on one of its own."""
    yield f"{title}:"
    yield from (f"  | {line}" for line in text.splitlines())


# Extraction.

LONG = "A word and one more make five. " * 600
SPOKEN = (
    "", "ok", "One. Two! Three? Four", "1. First this. 2. Then that.", "See v1.2. Then go.",
    "Before.\n```py\nx = 1\n```\nAfter.", "~~~\nopen to the end. No more.", "a `b. c` d. `e f. Next.",
    "修好它。然后测试！好吗？行", "- one\n- two\n\n\nthree", "...", "   ", "word " * 47 + "last",
    "word " * 48 + "last", "w" * 240, "w" * 241, "w" * 240 + " more", "字" * 239 + "。" + "字" * 300,
    "word " * 384 + "tail", "a" * 30 + " " + "b" * 300, LONG, "x" * 8_000, "x y " * 2_000, "x y " * 2_001,
)  # fmt: skip
RUNS = (
    "src/a.py", "./src/a.py", "/abs/dir/b", "a/b", "a.py", "a.b.py", "a.b.cc", "os.path.join", "long_name.other_name",
    "v1.2.3", "snake_case", "camelCase", "PascalCase", "Pascal", "UPPER", "ABC-123", "ABC-1", "AB12345", "1a2b3c4",
    "1a2b3c4d5e", "1234567", "abcdefa", "-x/y/z.py", "-x_y_z", "+new_name", "@scope/package", "dir_name/", "half_word-",
    "half_word~", "a...b_c_d", "https://example.org/a?b=1", "http://x.io", "see https://e.org/long/path.", "x" * 130 + ".py",
    "x" * 117 + ".py", "x" * 118 + ".py", "a_b", "ab_cd", "ab_cde", "prt_01HX.2", "ent_5", "müll_abfuhr.txt",
    "имя_файла.txt", "C:\\nsrc\\new_thing.py", "//only//slashes//", "123/456/789", "файл.py", "name.PY", "name.xyz",
    "dir/name.xyz", "text with plain words only", "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4",
)  # fmt: skip


def _pieces() -> Iterator[str]:
    yield from _said("sentences", quotes.sentences, SPOKEN)
    yield from _said("cut", quotes.cut, SPOKEN)
    for kind, body in BODIES.items():
        for native in ("", "n") if "request" in kind else ("",):
            made = replace(entry(7, body), native=native)
            for age in (0, 8):
                found = list(quotes.pieces(made, age))
                told = [(p.seq, p.role, p.text[:40], round(p.worth, 4), p.order) for p in found]
                yield f"pieces of {kind}{' imported' * bool(native)} at {age}: {_short(repr(told), 500)}"
    made = [quotes.Piece(4, "assistant", text, 1.0, order) for text, order in
            (("One.", 0), ("Two.", 1), ("字。", 2), ("Three", 3), ("Five …", 5), ("Six.", 6), ("Nine.", 9))]  # fmt: skip
    yield from _said("joined", quotes.joined, [(made[:n],) for n in range(8)])
    foreign = [quotes.Piece(0, quotes.EARLIER, "z first", 1.0, 0), quotes.Piece(0, quotes.EARLIER, "a second", 1.0, 1)]  # fmt: skip
    yield from _said("quotations", quotes.quotations, [([*made[2:4], *reversed(foreign), quotes.Piece(2, "tool", "t.", 1.0, 0)],)])  # fmt: skip


BODIES: dict[str, Any] = {
    "a request": user("First. Second. Third. Fourth."),
    "a request with a tag": user("<env>x</env>\nMend it. Now."),
    "a reply": assistant("First. Second. Third. Fourth."),
    "one sentence": assistant("First."),
    "a reply with calls": assistant("First. Second. Third.", ToolCall("1", "x", "{}"), "Last. Of all."),
    "a result": tool(ToolResult("1", "plain words. error: none")),
    "a failed result": tool(ToolResult("1", "header\n\nline of words\nValueError: bad\nthen fatal", True)),
    "a failed result that names nothing": tool(ToolResult("1", "one\ntwo\n---\n", True)),
    "a failed result of nothing": tool(ToolResult("1", "---\n", True)),
    "a summary": Message("user", (SummaryText("It was so. And so."),)),
    "a subtask": assistant(Subtask("s", "Look.", "Found one. Found two. Found three.")),
    "what a program says": Message("user", (Text("Be brief. Now.", "system-reminder"), Text("Go on. Then."))),
    "a system text": Message("system", (Text("Be good. Always."),)),
    "a rewind": Rewind(to=2),
}  # fmt: skip


def _names() -> Iterator[str]:
    yield from _said("names_in", names.names_in, RUNS)
    yield from _said("within", lambda run: names.Names(9).within(run), RUNS)
    yield from _said("values", names.values, ('{"a": "b", "c": ["d", {"e": "f"}], "g": 7}', '"x"', "[1]", "7", "{", ""))  # fmt: skip
    held = names.Names(100)
    for seq, weight in ((100, 3.0), (99, 1.0), (60, 3.0), (0, 3.0), (100, 1.0)):
        held.use(("some_name", f"name_{seq}"), seq, weight)
    for seq in range(1, 13):
        held.use(("often_used",), seq, 1.0)
    for name in (*held.warmth, "unknown"):
        yield f"likely {name}: {held.likely(name):.5f} at {held.places.get(name)}"
    yield from _said("is_public", names.is_public, ("words", "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4"))


def _index() -> Iterator[str]:
    held = ["src/a.py", "src/b.py", "src/core/c.py", "d_name", "https://e.org/x", "https://e.org/y", "src/a.py"]  # fmt: skip
    yield from _said("written", name_index.written, [(held[:n],) for n in range(8)])
    yield from _said("read", name_index.read, ("- a_b #3", "- src/{a.py, b.py}, c #12", "- a #", "a #3", "- a #3 ", "- a, b", "-  #3", "- {x} #4", "- x/{} #5"))  # fmt: skip
    places = {"a": [1, 5], "b": [2, 5], "c": [3, 6], "d": [6], "e": [5, 6], "f": [7]}
    yield from _said("assigned", name_index.assigned, [(tuple(some), places) for some in ("abcdef", "ad", "bce", "fe", "")])  # fmt: skip


def _turns(number: int) -> list[Entry]:
    bodies: list[Any] = []
    for n in range(number):
        bodies += [
            user(f"Now do step number {n} in steps/step_{n}.py. Keep `rule_{n % 3}`. Say when done."),
            assistant(f"I look at part {n} first.", ToolCall(f"c{n}", "Bash", f'{{"command": "make part_{n}"}}')),
            tool(ToolResult(f"c{n}", f"error in mod_{n}/file_{n}.c: line {n}\nsee common_header.h", n % 2 == 0, "Bash")),
            assistant(f"Step {n} is done in steps/step_{n}.py. It took a while. The rest follows common_rule."),
        ]  # fmt: skip
    return [entry(seq, body) for seq, body in enumerate(bodies, 1)]


THEIRS = "## State\nThe user wants speed in core/fast_path.py.\n- core/parse.py is half done\n\n- [ ] tests of `fast_path`"  # fmt: skip


def _extracts() -> Iterator[str]:
    short, long = _turns(3), _turns(30)
    once = extract(short, (), 300)
    for budget in (-1, 0, 10, 30, 60, 99, 100, 101, 200, 400, 1_000):
        yield from _text(f"3 turns in {budget}", extract(short, (), budget))
    for budget in (60, 150, 400, 2_000):
        yield f"30 turns in {budget}: {short_hash(extract(long, (), budget))}"
        known = ledger(long)
        yield f"beside a ledger: {short_hash(extract(long, (), budget, ledger=known, beside=render(known, 200)))}"  # fmt: skip
        yield f"with a focus: {short_hash(extract(long, (), budget, focus='Part 17, the step NUMBER 4 and for'))}"  # fmt: skip
        yield f"with what went before: {short_hash(extract(long[40:], (once, THEIRS), budget))}"
    yield from _text("behind another summary", extract(short[4:], (THEIRS,), 250))
    yield from _text("behind one of ours", extract([], (once, THEIRS), 250))
    yield from _text("alone", extract([], (THEIRS,), 250))
    yield from _text("alone, in less", extract([], (THEIRS,), 20))
    yield from _text("listed", listing(long[:16], [(3, "see old_file.py and b_name_c"), (2, once)], 150))  # fmt: skip
    yield from _text("listed beside", listing(long[:8], [], 150, beside="steps/step_0.py"))
    some = list(dwelt([quotes.Piece(1, "x", "Word of the parser and its parts.", 1.0)] * 2, "THE parser, its PARTS of"))  # fmt: skip
    yield f"dwelt: {[round(one.worth, 4) for one in some]}"
    candidates = [piece for one in long[:24] for piece in quotes.pieces(one, 30)]
    held = names.Names(24)
    for one in candidates:
        held.use(held.within(one.text), one.seq, 3.0)
    for room in (7, 8, 20, 60, 200):
        chosen = choose(candidates, held, {"steps/step_1.py"}, room)
        yield f"chosen in {room}: {[(one.seq, one.order) for one in chosen]}"
    yield f"promising: {[round(promising(one), 5) for one in candidates[:9]]}"


def _digests() -> Iterator[str]:
    held = digest.Digest()
    for one in _turns(120):
        held.step(one)
    held.step(entry(3, user("again")))
    held.step(entry(500, Rewind(to=4)))
    yield f"digest: {held.seq} {len(held.pieces)} {len(held.names)} {short_hash(repr(held))}"
    for n in range(5):
        words = " ".join(f"name_{n}_{m}" for m in range(300))
        held.step(entry(501 + n, tool(ToolResult("x", words))))
        yield f"then: {held.seq} {len(held.pieces)} {len(held.names)} {short_hash(repr(held))}"
    yield f"uses: {held.names.get('common_rule')}"
    for covers in ((), (Span(1, 100),), (Span(1, 40), Span(400, 480))):
        inner = held.within(covers)
        yield f"within {covers}: {len(inner.pieces)} {len(inner.names)}"
        yield from _text("digested", digested(held, covers, 120))
    yield f"aged: {[round(digest.aged(quotes.Piece(5, 'x', 'y', 2.0), n).worth, 4) for n in (1, 5, 6, 205)]}"  # fmt: skip


# What the ledger is held against.

CLAIMS = (
    "passed", "failed", "3 passed, 1 failed", "no errors", "not passed", "did not pass", "didn't fail",
    "without any failures", "exit code 0", "exited with 1", "exit status: 2", "returned 0", "rc=3", "status 200 ok",
    "should pass now", "will fail", "if it fails", "passed, verify", "now passes", "still fails", "currently green",
    "is clean", "has 0 errors", "free of errors", "never works", "works", "erfolgreich", "nicht erfolgreich", "schlägt fehl",
    "läuft jetzt", "ist fehlgeschlagen", "sin errores", "falló", "pasó con éxito", "n'a pas réussi", "a échoué", "réussi",
    "成功", "失败", "没有报错", "未通过", "现在通过", "退出码：1", "終了コード 0", "エラー", "should 应该成功", "nothing said",
    "non-zero exit", "red", "is broken now", "success with exit code 1", "exit code -1", "exit code 1234",
)  # fmt: skip
SENTENCES = (
    "`a b` passed and `c d` failed.", "`a b` and `c d` passed.", "`a b`, `c d` failed.", "Passed: `a b`.",
    "`a b` should be run, `c d` passed.", "`a b` ran; it passed. `c d` too.", "If `a b` passes `c d` fails.",
    "Failed: `a b` and `c d`.", "`a b` then `c d` passed.",
)  # fmt: skip
PROSE = (
    "See src/a.py, ./b.py and /etc/hosts/x.", "C:\\dir\\file.txt or ~/x/y.md", "Node.js and Vue.js and app.js", "a/b/c and and/or",
    "https://e.org/x.py and src/*.py and {a,b}.py", "read x.py:12 and y.py.", "…/core/z.py", "docs/结账.md和shop/till.py", "..rc and .env and .env.x",
    "word.unknown x.pyc x.py-old", "@scope/pkg/index.ts", "file.dockerfile", "x" * 250 + "/y.py " + "z" * 230,
    "`git push origin`", "`git`", "`$ make test`", "```sh\n$ npm  run x\nls\n```", "```py\nmake it so\n```", "`frobnicate it`",
    "`snake_case` `camelCase` `Plain` `a.b` `f()` `AB` `ABC` `x1` `prt_01HX.2` `a::b` `a->b` `two words` `src/a.py`",
    "commit 1a2b3c4 or abcdefa or 1234567, PR #7, issue #12, GH#3, see https://e.org/x.",
)  # fmt: skip


def _log() -> Ledger:
    patch = "*** Begin Patch\n*** Update File: src/shop/cart.py\n@@\n-a\n+b\n*** End Patch"
    return ledger(
        said(
            asked("The cart total is wrong when a coupon is used, see src/shop/cart.py"),
            *used("Read", {"file_path": "/repo/src/shop/cart.py"}, "1\tdef total(): ..."),
            *ran("python -m pytest -q tests/shop", 1, "1 failed, 3 passed"),
            *used("apply_patch", patch, '{"output":"Success.","metadata":{"exit_code":0}}'),
            *ran("ruff check src"),
            *ran("npm run build", None, "built"),
            *ran("make test", 2), *ran("make docs", 0), *ran("make test", 0), *ran("make docs", 1),
            *used("Write", {"file_path": "old/gone.py", "content": "x"}, "File created successfully"),
            *ran("rm old/gone.py"),
            *used("TodoWrite", {"todos": [{"content": "Mend the page", "status": "pending"}]}, "ok"),
            done("I changed `apply_coupon` in `src/shop/cart.py`; commit 4f2a91c."),
            asked("Now let the checkout page show the reduced price. Never use floats."),
            *used("Edit", {"file_path": "src/shop/price.py"}, "The file src/shop/price.py has been updated."),
        )
    )  # fmt: skip


SUMMARIES = (
    "", "`pytest` passes.", "`pytest` failed.", "All tests pass.", "The build failed.", "The tests passed.", "`ruff check src` failed.",
    "`ruff check` exited with code 1.", "`make test` passed.", "`make test` still fails.", "`make test` failed.", "`make docs` now passes.",
    "`make docs` exited with code 7.", "The run of ruff check src was a failure.", "ok.", "`make` failed.", "`src` failed.",
    "Deleted `src/shop/cart.py`.", "Removed old/gone.py.", "Deleted price.py.", "Deleted the file cart.py:", "Gelöscht: datei x.py",
    "See src/shop/basket_cart.py.", "See docs/plan.md.", "See shop/cart.py and …/shop/cart.py and /elsewhere/src/shop/cart.py.",
    "`git push origin main` was run.", "`python … tests/shop` ran.", "`npm run ... build` ran.", "`ruff src` ran.", "`apply_voucher` is new.",
    "`self.apply_coupon()` is new.", "`cart.total` is new.", "`nowhere.total` is new.", "Commit 9c8b7a6 holds it.", "Commit 4f2a91c holds it.",
    "The checkout page shows the reduced price.", "Open: the page.", "The user asked for something.", "Checkout is next; prices are left.",
    "#17 is open.", "#3-#9 and #1 – #2.", "Never use floats. Mend the page.", "请求：结账页面。", "`make test` failed and `make docs` failed; `ruff check src` passed.",
)  # fmt: skip


def _judged() -> Iterator[str]:
    yield from _said("claimed", claims.claimed, CLAIMS)
    for sentence in SENTENCES:
        places = [m.span() for m in re.finditer("`[^`]+`", sentence)]
        yield f"spoken_of({sentence!r}) = {claims.spoken_of(sentence, places)}"
    for name in ("paths", "commands", "identifiers", "code_spans"):
        yield from _said(name, getattr(mentions, name), PROSE)
    known = _log()
    for text in SUMMARIES:
        for one in objections(known, text):
            yield f"objection to {text!r}: {one.rule}: {one.text} | {one.why}"
        states = [(one.kind[:4], one.seq, one.state, one.why) for one in retention(known, text).items if one.state != "missing"]  # fmt: skip
        yield f"retained by {text!r}: {_short(repr(states), 500)}"
    report = retention(known, SUMMARIES[1], visible=(Span(2, 6),), covered="docs/plan.md")
    yield f"beside what stays: {[(one.kind, one.seq, one.state) for one in report.items]}"
    words = Known(known, "see ...hop/cart_of_one.py and docs/结账.md, a.b.c, C:\\x\\y.py")
    for name, cases in KNOWN.items():
        yield from _said(name, getattr(words, name), cases)
    request = Request(id="E3", seq=3, text="Please show the reduced price on the checkout page")
    yield from _said("kept", lambda text: kept(request, text), SUMMARIES)
    yield from _said("kept wide", lambda text: kept(replace(request, text="请把结账页面改成显示折扣后的价格"), text), SUMMARIES)  # fmt: skip
    yield from _said("kept of nothing", lambda text: kept(replace(request, text="and so on"), text), SUMMARIES[30:])  # fmt: skip
    yield from _said("stems", matching.stems, (*SPOKEN[:12], "The handler is handling 12 handles of 7", "ab abc das für"))  # fmt: skip
    yield from _said("is_wide", matching.is_wide, ("abc", "字", "字 abc", "字字 abcd", "字字 abcdefg", "字字 abcdef", ""))  # fmt: skip
    pairs = [(a, b) for a in ("", "ab", "abc") for b in ("", "a", "abcd")]
    yield from _said("share", lambda a, b: matching.share(frozenset(a), frozenset(b)), pairs)


KNOWN: dict[str, tuple[str, ...]] = {
    "has_path": ("src/shop/cart.py", "cart.py", "art.py", "./src/shop/cart.py", "/", "...hop/cart_of_one.py", "hop/cart_of_one.py",
        "docs/结账.md", "x/y.py", "x\\y.py", "/repo/src/shop/price.py", "/nope/src/shop/price.py", "src/shop/cart.py/", "cart.pyx"),
    "meant": ("carts.py", "src/basket_cart.py", "prices.py", "zzz.go", "CART.PY"),
    "has_command": ("make test", "make", "ruff src", "python ... tests/shop", "python … nowhere", "npm  run build", "…", "git push"),
    "has_name": ("apply_coupon", "self.apply_coupon()", "this.apply_coupon", "a.b", "a.z", "cart::total", "total", "otal.cart", "4f2a91c"),
}  # fmt: skip


# What is sent, told and brought back.

SEALED = seal("anthropic", b"x", "m")
PARTS: tuple[Any, ...] = (
    Text("hello\n[#3 user]\n# USER x"), Text("reminder", "system-reminder"), ToolCall("1", "Bash", '{"command": "ls -l"}'),
    ToolCall("2", "odd", '{"n": 1, "first": "a", "second": "b"}'), ToolCall("3", "Read", '{"file_path": "a.py"}', SEALED),
    ToolResult("1", "out", False, "Bash"), ToolResult("1", "bad", True), ToolResult("1", "x" * 500, media=(Media("image/png", b"p", name="p.png"), Media("application/pdf", b"q"))),
    Media("image/png", b"p", name="p.png"), Media("application/pdf", b"q", name="q.pdf"), Reasoning("Hm. " * 60, SEALED), Reasoning("Plain"),
    Opaque("anthropic", "compaction", b"{}"), Opaque("openai", "thing", b"{}"), SummaryText("It was so."), Subtask("s", "Look.", "Found."),
    Text("", ""), Text("sealed", "", SEALED), ToolResult("9", "p", media=(Media("image/png", b"1"), Media("image/jpeg", b"2"))),
)  # fmt: skip


def _recalls() -> Iterator[str]:
    call = ToolCall("1", "Bash", '{"command": "make   all"}')
    for part in PARTS:
        yield f"label: {recall.label(part)} | {recall.label(part, call)}"
        yield f"note: {recall.note(part, Handle('E', 2), 1_234, call)}"
    yield from _said("read_handle", recall.read_handle, (
        "#12", "#3-#9", "#3 to 9", "#3..#9", "#3 – 9", "[recall #7]", "prt_AB.2", "prt_AB", "AB.x", "AB.", "", "#", "#1234567890123456789", "a b", "`prt_A1.0`.", "AB.²"))  # fmt: skip
    yield from _said("recall_tools", recall.recall_tools, ("", "anthropic", "openai-chat", "openai-responses", "gemini", "odd"))  # fmt: skip
    yield from _said("piece", recall.piece, [("word " * 50, at, room) for at in (-1, 0, 3, 240, 249, 250, 300) for room in (1, 5, 49, 60)])  # fmt: skip
    bodies = [tool(ToolResult("1", "x")), tool(ToolResult("2", "y", True)), user("z"), Message("user", (Media("image/png", b"p"), Text("t")))]  # fmt: skip
    counts = [(120,), (119,), (900,), (4_000, 500)]
    shown = [entry(n, body, counts=count) for n, (body, count) in enumerate(zip(bodies, counts, strict=True), 1)]  # fmt: skip
    shown += [entry(5, tool(ToolResult("5", "v"), ToolResult("1", "w")), counts=(700,))]
    for budget in (10, 40, 60, 80, 200):
        yield from _text(f"expandable in {budget}", recall.expandable(shown, {"1": call}, budget))
    words = recall.recalled(3, 9)
    yield from _said("without_recalled", recall.without_recalled, (f"a\n{words}\n b ", f"{words}", "recall #3 ", " as it is "))  # fmt: skip


def _told() -> Iterator[str]:
    for part in PARTS:
        yield f"told: {_short(repr(transcript_text.told(entry(3, Message('user', (part,))))), 300)}"
    both = entry(4, Message("assistant", (Text("a"), Text(""), Text("b"))))
    yield f"told: {transcript_text.told(both)!r} {transcript_text.told(both, True)!r} {transcript_text.told(entry(1, Rewind(to=0)))!r}"  # fmt: skip
    texts = ["one two three four five. " * n for n in (1, 2, 5, 40, 1)] + ["字" * 90]
    yield from _said("chunks", lambda tokens: [len(one) for one in transcript_text.chunks(texts, tokens)], (1, 2, 6, 7, 8, 13, 20, 30, 100, 1_000))  # fmt: skip
    yield f"chunks: {short_hash(repr(list(transcript_text.chunks(texts, 20))))}"
    summaries = [entry(n, Summary(covers=(), text=f"t{n}", step=step)) for n, step in enumerate(("summarise", "shed", "notes"), 1)]  # fmt: skip
    yield f"earlier: {transcript_text.earlier([*summaries, both])}"


PROFILE = Profile(name="m", window=10_000, output_limit=1_000, prices=(Price(input=3_000_000, output=15_000_000, cache_read=300_000, cache_write=3_750_000),))  # fmt: skip


def _windows() -> Iterator[str]:
    blocks = tuple(
        Block(section=section, role="user", parts=(part,), tokens=tokens, entry=f"e{n}", seq=n, source="s", rule="r")
        for n, (section, part, tokens) in enumerate((("system", PARTS[0], 100), ("history", PARTS[8], 50), ("history", PARTS[5], 0), ("current", PARTS[1], 7)))
    )  # fmt: skip
    budget = Budget(window=10_000, output=1_000, margin=0, room=9_000)
    bare = Window(model="m", blocks=blocks, budget=budget, tokens=Count(tokens=1_000))
    tooled = replace(bare, tools=(Tool(name="t", description="does it", schema={"type": "object"}),))  # fmt: skip
    for window in (bare, tooled, replace(bare, blocks=(), tokens=Count(tokens=0))):
        for usage in (None, Usage(input=500, output=3), Usage(input=100, cache_read=300, cache_write=350)):  # fmt: skip
            for profile in (PROFILE, replace(PROFILE, prices=())):
                lines = explain.explain(window, profile, usage)
                yield f"explained: {[(one.section, one.source, one.tokens, one.cached, one.cost, one.entry, one.seq) for one in lines]}"  # fmt: skip
        yield f"by section: {explain.by_section(window, PROFILE)}"
    yield from _said("shared", explain.shared, [([], 5), ([1, 2], 0), ([0, 0], 9), ([1, 1, 1], 10), ([5, 3, 2], 7)])  # fmt: skip
    forced = [
        entry(5, Summary(covers=(Span(1, 9),), text="t", kept=(2,), trigger="manual")),
        entry(7, Rewind(to=4, reason="x")), entry(8, Rewind(to=7)), entry(9, Rewind(to=6)),
        entry(12, Clear(parts=(PartRef(10, 1), PartRef(11, 0)), reason="old")), entry(13, Clear(parts=(PartRef(10, 2),))),
        entry(14, Summary(covers=(Span(13, 13),), text="t", reason="why", step="shed")), entry(15, user("u")),
    ]  # fmt: skip
    yield from _said("absent", lambda seq, part: explain.absent(seq, part, forced), [(seq, part) for seq in (0, 1, 2, 4, 5, 6, 7, 8, 10, 13, 14) for part in (None, 0, 1)])  # fmt: skip
    yield from _said("hidden", explain.hidden, forced)
    parts = [b"abc", b"def", b"gh"]
    others = [parts, parts[:2], [], [b"abc", b"dxf", b"gh"], [b"abcd", *parts[1:]], [b"ab", *parts[1:]], [*parts, b"i"]]  # fmt: skip
    for before in others:
        for after in others:
            yield f"difference: {explain.difference(before, after, [100, 20, 3, 5], PROFILE)}"
    yield f"unpriced: {explain.difference([b'a'], [b'b'], [9], replace(PROFILE, prices=()))}"


REFUSALS = (
    "prompt is too long: 210000 tokens > 200000 maximum", "This model's maximum context length is 8192 tokens", "context_length_exceeded",
    "max_tokens: 9000 > 800, which is the maximum allowed number of output tokens", "tool_use ids were found without tool_result blocks", "unexpected `tool_use_id` found in `tool_result` blocks",
    "tool_result blocks must come first", "tool_use ids must be unique", "blocks in the latest assistant message cannot be modified", "Expected `thinking` or `redacted_thinking`",
    "Invalid `signature` in `thinking` block", "image dimensions exceed max", "Could not process image", "No tool output found for function call c", "No tool call found for function call output",
    "Item of type 'reasoning' was provided without its required following item", "was provided without its required 'reasoning' item", "invalid_encrypted_content", "organization_id did not match",
    "must be followed by tool messages", "number of function response parts is equal to", "function call turn comes immediately after", "missing a thought_signature", "Thought signature is not valid",
    "web_search was found without a corresponding web_search_tool_result", "exceeds the available context size", "internal error", "", "x" * 20_000 + "prompt is too long",
)  # fmt: skip


def _refusals() -> Iterator[str]:
    yield from _said("remedy", refusals.remedy, REFUSALS)
    shown = [Block(section="history", role="tool" if isinstance(part, ToolResult) else "user", parts=(part,), seq=n) for n, part in enumerate(PARTS, 1)]  # fmt: skip
    for action in ("unseal", "without pictures", "calls as text", "shorter"):
        for owner in ("", "anthropic", "openai"):
            made = Repair(rule="R", action=action, owner=owner)
            found = refusals.cured(shown, [entry(19, made), entry(20, user("x"))])
            told = [(one.seq, one.role, str(one.parts[0])[:150]) for one in found if one != shown[one.seq - 1]]  # fmt: skip
            yield f"{action} for {owner}: {sorted({one.seq for one in shown} - {one.seq for one in found})} gone; {told}"  # fmt: skip
    cures = [refusals.Remedy("R", action) for action in refusals.LADDER]
    for cure in cures:
        for tried in ((), ("unseal",), ("unseal", "without pictures"), ("calls as text",)):
            for some in (None, shown[:1], shown[2:3], shown[8:9], shown[10:11]):
                done = [Repair(rule="R", action=action, owner=owner) for action, owner in zip(tried, ("anthropic", ""), strict=False)]  # fmt: skip
                made = refusals.further(cure, "anthropic", done, some)
                yield f"further {cure.action} after {tried}: {made.action if made else None}"
    other = refusals.further(cures[0], "openai", [Repair(rule="R", action="unseal", owner="anthropic")], None)  # fmt: skip
    yield f"further for another: {other}"
    limited = replace(PROFILE, input_limit=9_000, assumed=("window", "prices"))
    for profile in (PROFILE, limited):
        yield from _said("shortened", lambda told, sent, p=profile: refusals.shortened("R", told, sent, p), [(told, sent) for told in (None, 0, 9_999, 10_000) for sent in (0, 100, 8_000, 99_000)])  # fmt: skip
        yield from _said("briefer", lambda text, p=profile: refusals.briefer("R", text, p), ("max_tokens: 9 > 999,", "max_tokens: 9 > 1000,", "max_tokens: 9 > 0", "max_tokens: 9 > 1", "none"))  # fmt: skip
        for action, limit, model in (("shorter", 5_000, "M"), ("shorter", 50_000, "m"), ("shorter prompt", 5_000, "m"), ("shorter prompt", 50_000, "m"), ("shorter reply", 500, "m"), ("shorter reply", 5_000, "m"), ("shorter", 0, "m"), ("shorter", 5, "n")):  # fmt: skip
            made = refusals.limited(profile, [Repair(rule="R", action=action, limit=limit, model=model)])  # fmt: skip
            yield f"limited by {action} {limit} {model}: {made.window} {made.input_limit} {made.output_limit} {made.assumed}"  # fmt: skip


def _applied() -> Iterator[str]:
    bodies: list[Any] = [
        user("Look."), assistant(Reasoning("a"), Reasoning("b"), ToolCall("1", "grep", "{}"), ToolCall("2", "bash", "{}")),
        tool(ToolResult("1", "x"), ToolResult("2", "y")), Rewind(to=1), assistant(Opaque("anthropic", "redacted_thinking", b"{}"), ToolCall("3", "grep", "{}")), tool(ToolResult("3", "z")),
        user("More."), assistant(Reasoning("c"), ToolCall("4", "bash", "{}")), tool(ToolResult("4", "w", name="odd")), tool(ToolResult("0", "v", name="bash")), user("Last."), assistant(Reasoning("d")),
    ]  # fmt: skip
    sent = [entry(n, body) for n, body in enumerate(bodies, 1)]
    for edit in (Edit(type="x"), *(Edit(type="x", cleared_tool_uses=n) for n in (1, 2, 9)), *(Edit(type="x", cleared_thinking_turns=n) for n in (1, 2, 9))):  # fmt: skip
        for told in ({}, {"edits": [{"exclude_tools": ["grep"]}, {}]}, {"edits": None}):
            found = provider_edits.cleared(sent, [edit], told, [PartRef(2, 0), PartRef(3, 0)])
            yield f"cleared {edit.cleared_tool_uses} {edit.cleared_thinking_turns} {told}: {[(one.seq, one.ordinal) for one in found]}"  # fmt: skip
    for stop in ("end", "refused", "tools", "length"):
        for upto in (1, 3, 6, 7, 11, 12):
            yield f"kept {stop} {upto}: {provider_edits.kept([*sent[:3], *sent[4:]][:upto], stop)}"
    compaction = Opaque("anthropic", "compaction", b"{}")
    for parts in ((Text("a"),), (compaction, SummaryText("s"), Text("a")), (Text("a"), compaction, Text("b"), SummaryText("s")), (compaction, compaction, SummaryText("s"), SummaryText("t"))):  # fmt: skip
        yield f"without compactions: {[type(one).__name__ for one in provider_edits.without_compactions(parts)]}"  # fmt: skip
    made = provider_edits.echoed(Block(section="summary", role="user", parts=(Text("word " * 90),)), compaction)  # fmt: skip
    yield f"echoed: {made.tokens} {[type(one).__name__ for one in made.parts]}"


def _calls() -> Iterator[str]:
    bodies: list[Any] = [
        assistant(ToolCall("1", "a", "{}"), ToolCall("2", "b", "{}")), tool(ToolResult("1", "x")), tool(ToolResult("9", "unknown")), Rewind(to=9),
        Message("system", (Text("s"),)), tool(ToolResult("2", "y", True, started=NOON + 5)), assistant(ToolCall("3", "c", "{}")), user("on"), assistant(ToolCall("4", "d", "{}")),
    ]  # fmt: skip
    log = [entry(n, body, created=NOON + n, completed=None if n == 9 else NOON + n * 10) for n, body in enumerate(bodies, 1)]  # fmt: skip
    for upto in range(1, 10):
        yield f"calls after {upto}: {[_short(repr(one), 200) for one in tool_calls.tool_states(log[:upto]).values()]}"  # fmt: skip


class Word(str):
    """Text of a kind of its own."""


class Number(int):
    """A number of a kind of its own."""


def _sound() -> Iterator[str]:
    yield from _said("own_id", validate.own_id, ("a", "", "  ", "a" * 256, "a" * 257, "ä", "a\tb", "a b", 7, None, "x/y:z"))  # fmt: skip
    yield from _said("text", validate.text, (("a", "it"), (7, "it"), (b"abc", "it"), ("y" * 90, "it"), (["y" * 90], "it")))  # fmt: skip
    odd: list[Any] = [
        *PARTS, ToolCall("1", "x", {"a": 1}), ToolCall(7, "x", "{}"), ToolCall("1", "x", b"{}"), ToolResult("1", b"x"), ToolResult("1", "x", 1), ToolResult("1", "x", name=3),
        ToolResult("1", "x", started=5), ToolResult("1", "x", started="5"), ToolResult("1", "x", exit=1), ToolResult("1", "x", exit="1"), Text(b"x"), Text(Word("x")), Text("x", 5), Media("image/png", "abc"), Media("image/png", bytearray(b"abc")), 7, "text",
        Reasoning(5), SummaryText(None), Text("\ud800"), Subtask("s", Number(5)), Subtask(Path("a")),
    ]  # fmt: skip
    yield from _said("sound", lambda part: _same(Message("user", (part,))), odd)
    yield from _said("sound", _same, (Message("nobody", ()), Message("user", ["x"]), Message("user", ()), "text", None, Rewind(to=2), Rewind(to="2"), Rewind(to=True), Clear(parts=(PartRef(1, 2),)), Clear(parts=[(1, 2)])))  # fmt: skip
    yield from _said("plain_scalar", lambda one: (type(validate.plain_scalar(one)).__name__, validate.plain_scalar(one)), (Word("x"), Number(3), True, 1.5, None, b"x", [1]))  # fmt: skip


def _same(body: Any) -> str:
    found = validate.sound(body)
    return "itself" if found is body else repr(found)


TABLES = (
    _pieces, _names, _index, _extracts, _digests, _judged, _recalls, _told, _windows, _refusals,
    _applied, _calls, _sound,
)  # fmt: skip


def main() -> None:
    """Write down what the functions give now."""
    GOLDEN.write_text(described(), "utf-8")


if __name__ == "__main__":
    main()
