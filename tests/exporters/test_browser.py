"""The page in a real browser: whatever was said, nothing runs, nothing is asked for, nothing leads
anywhere. Skipped where no Chromium is installed (`HOLDFAST_CHROMIUM` names one)."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import suppress
from html.parser import HTMLParser
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.model.message import Reasoning, ToolCall, ToolResult, tool
from tests.exporters.test_pages import OURS

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")


class Listener(BaseHTTPRequestHandler):
    """Remembers what was asked for."""

    asked: list[str] = []  # noqa: RUF012 - shared by design: one listener a test

    def do_GET(self) -> None:
        self.asked.append(self.path)
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def address() -> Iterator[str]:
    Listener.asked.clear()
    with HTTPServer(("127.0.0.1", 0), Listener) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def chromium() -> str:
    named = os.environ.get("HOLDFAST_CHROMIUM", "")
    found = named or next(filter(None, map(shutil.which, NAMES)), "")
    if not found:
        pytest.skip("no Chromium is installed; HOLDFAST_CHROMIUM may name one")
    return found


class Browser:
    """A Chromium without a screen, spoken to by its debugging pipe."""

    def __init__(self, profile: Path) -> None:
        ours, theirs = os.pipe(), os.pipe()

        def laid() -> None:
            """Lay the pipes where it looks for them: 3 to read, 4 to write."""
            reading, writing = os.dup(ours[0]), os.dup(theirs[1])
            os.dup2(reading, 3)
            os.dup2(writing, 4)

        told = [chromium(), "--headless", "--no-sandbox", "--disable-gpu", "--single-process",
                "--no-zygote", f"--user-data-dir={profile}", "--remote-debugging-pipe"]  # fmt: skip
        self.process = subprocess.Popen(
            told, preexec_fn=laid, close_fds=False, stderr=subprocess.DEVNULL
        )
        os.close(ours[0])
        os.close(theirs[1])
        self._out, self._in = os.fdopen(ours[1], "wb"), os.fdopen(theirs[0], "rb")
        self._asked = 0

    def ask(self, method: str, session: str = "", **values: object) -> dict[str, Any]:
        """Have something done; what it answers."""
        self._asked += 1
        about = {"sessionId": session} if session else {}
        told = {"id": self._asked, "method": method, "params": values, **about}
        self._out.write(json.dumps(told).encode() + b"\0")
        self._out.flush()
        while (said := self._heard()).get("id") != self._asked:
            pass
        return said["result"]

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        self._in.close()
        with suppress(OSError):
            self._out.close()

    def _heard(self) -> dict[str, Any]:
        letters = bytearray()
        while (letter := self._in.read(1)) != b"\0":
            assert letter, "the browser ended"
            letters += letter
        return json.loads(letters)


def rendered(page: Path, profile: Path) -> str:
    """What a browser makes of a page, after all that would run has run."""
    browser = Browser(profile)
    try:
        target = browser.ask("Target.createTarget", url="about:blank")["targetId"]
        attached = browser.ask("Target.attachToTarget", targetId=target, flatten=True)
        session = attached["sessionId"]
        browser.ask("Page.navigate", session, url=page.as_uri())
        done = "new Promise(done => setTimeout(() => done(document.readyState), 1000))"
        browser.ask("Runtime.evaluate", session, expression=done, awaitPromise=True)
        whole = "document.documentElement.outerHTML"
        return browser.ask("Runtime.evaluate", session, expression=whole)["result"]["value"]
    finally:
        browser.close()


def attacks(address: str) -> list[str]:
    run = f"document.title='RUN';fetch('{address}/ran')"
    return [
        f"<script>{run}</script>",
        f"</pre></details></section><script>{run}</script>",
        f'<img src=x onerror="{run}"><img src="{address}/img">',
        f'<a href="javascript:{run}">here</a> [there](javascript:{run})',
        f"<svg onload=\"{run}\"><image href='{address}/svg'/></svg>",
        f"<iframe src='{address}/frame' srcdoc='<script>parent.{run}</script>'></iframe>",
        f"</style><style>@import '{address}/css'; body{{background:url({address}/bg)}}</style>",
        f"<link rel=stylesheet href='{address}/link'><link rel=prefetch href='{address}/pre'>",
        f"<meta http-equiv=refresh content='0;url={address}/refresh'><base href='{address}/'>",
        f"<form action='{address}/form'><input autofocus onfocus=\"{run}\"></form>",
        f"<object data='{address}/object'></object><embed src='{address}/embed'>",
        f"<!-- --!><script>{run}</script> ]]><script>{run}</script>",
        f"&lt;script&gt;{run}&lt;/script&gt; \x00<scr\x00ipt>{run}</script>",
        f'<math><mtext><table><mglyph><style><img src onerror="{run}">',
        f"{{{{constructor.constructor('{run}')()}}}} ${{{run}}}",
    ]


class Elements(HTMLParser):
    """The elements of a page, and what could act on them."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.acting: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.acting += [
            f"{tag} {name}={value}" for name, value in attrs
            if name.startswith("on") or name in ("href", "src", "srcdoc", "action", "style", "data")
        ]  # fmt: skip


def test_nothing_that_was_said_acts_in_a_browser(tmp_path: Path, address: str) -> None:
    chromium()
    hostile = attacks(address)
    with holdfast.open("memory:") as hf:
        s = hf.session(title=hostile[1], model=hostile[2])
        for number, words in enumerate(hostile):
            s.user(words)
            asked = ToolCall(f"c{number}", words, words)
            s.append(holdfast.assistant(Reasoning(words), holdfast.Text(words), asked))
            s.append(tool(ToolResult(f"c{number}", words)))
        hf.export(s.id, "html", file=tmp_path / "page.html")
    made = rendered(tmp_path / "page.html", tmp_path / "profile")
    seen = Elements()
    seen.feed(made)
    assert seen.names <= set(OURS)
    assert seen.acting == []
    assert "<title>RUN" not in made
    assert made.count("document.title='RUN'") > len(hostile)
    assert Listener.asked == []


def test_the_browser_would_have_run_it(tmp_path: Path, address: str) -> None:
    page = tmp_path / "page.html"
    page.write_text(f"<!doctype html><title>x</title><body>{attacks(address)[0]}")
    assert "<title>RUN" in rendered(page, tmp_path / "profile")
    assert Listener.asked == ["/ran"]
