"""Searching: bounded, killable, and plain about what it did not look at."""

import _thread
import os
import subprocess
import threading
import time
from pathlib import Path

import pytest

from holdfast.agent.tools.shell import Interrupted
from holdfast.agent.tools.toolbox import Toolbox
from holdfast.child_process import Child
from holdfast.errors import HoldfastError, InvalidRequest
from holdfast.testing import StrictServer
from holdfast.testing.strict.script import Ask, answer, in_order
from tests.agent.opening import agent, results

ENDLESS = "(a+)+$"
HELD = "a" * 60 + "!\n"
"""Python's expressions are busy with these two for longer than anybody lives."""


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[bytes]]:
    """Every process that a search has begun."""
    seen: list[subprocess.Popen[bytes]] = []
    begin = Child.__init__

    def noted(child: Child, module: str) -> None:
        begin(child, module)
        seen.append(child.process)

    monkeypatch.setattr(Child, "__init__", noted)
    return seen


def test_what_was_found_is_told_when_the_time_is_up(
    tmp_path: Path, started: list[subprocess.Popen[bytes]]
) -> None:
    (tmp_path / "a.txt").write_text("aaa\n")
    (tmp_path / "b.txt").write_text(HELD)
    told = Toolbox(str(tmp_path), seconds=2).run("grep", {"pattern": ENDLESS})
    assert told == "a.txt:1: aaa\n[… stopped after 2 s; this is what was found until then]"
    assert [one.returncode for one in started] == [-9]


@pytest.mark.parametrize("beside", [False, True])
def test_an_interrupt_ends_it(tmp_path: Path, beside: bool) -> None:
    (tmp_path / "b.txt").write_text(HELD)
    stop = threading.Event()
    box = Toolbox(str(tmp_path), stop if beside else None, seconds=60)
    threading.Timer(1, stop.set if beside else _thread.interrupt_main).start()
    with pytest.raises(Interrupted) as ended:
        box.run("grep", {"pattern": ENDLESS})
    assert ended.value.output == "nothing matches\n[… interrupted]"


def test_an_interrupt_ends_several_at_once(
    tmp_path: Path, started: list[subprocess.Popen[bytes]]
) -> None:
    calls = [Ask("grep", {"pattern": ENDLESS}), Ask("grep", {"pattern": f"{ENDLESS}|b"})]
    script = in_order(answer(*calls), answer(Ask("grep", {"pattern": "!"})), "All right.")
    with StrictServer(script) as server, agent(tmp_path, server) as made:
        (tmp_path / "work" / "b.txt").write_text(HELD)

        def interrupt() -> None:
            while len(started) < 2:
                time.sleep(0.05)
            _thread.interrupt_main()

        threading.Thread(target=interrupt, daemon=True).start()
        with pytest.raises(KeyboardInterrupt):
            made.turn("look")
        assert [one.returncode for one in started] == [-9, -9], "nobody is left searching"
        assert [one.output for one in results(made)] == ["[interrupted]"] * 2
        made.turn("once more")
        assert results(made)[-1].output == f"b.txt:1: {HELD.strip()}"


def test_none_of_our_keys_is_in_its_environment(
    tmp_path: Path, started: list[subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-canary-123456")
    monkeypatch.setenv("SOME_OTHER_TOKEN", "canary")
    child = Child("holdfast.agent.tools.grep_worker")
    try:
        child.tell(b'["/", "x"]')
        child.answer(time.monotonic() + 30)
        environment = Path(f"/proc/{started[0].pid}/environ")
        if not environment.exists():
            pytest.skip("this system does not show environments")
        assert b"canary" not in environment.read_bytes()
    finally:
        child.close()


def test_what_is_passed_over_is_told(tmp_path: Path) -> None:
    (tmp_path / "big.log").write_text("line\n" * 1_000_000 + "NEEDLE\n")
    for n in range(7):
        (tmp_path / f"{n}.bin").write_bytes(b"NEEDLE\0")
    (tmp_path / "long.txt").write_text("x" * 5_000 + "NEEDLE\r\n\n")
    found = Toolbox(str(tmp_path)).run("grep", {"pattern": "NEEDLE$"}).split("\n")
    assert found[0].startswith("long.txt:1: …xxx")
    assert "NEEDLE" in found[0]
    assert found[1:] == [
        "[passed over 7 files, no text: 0.bin, 1.bin, 2.bin, 3.bin, 4.bin, …]",
        "[passed over 1 file, larger than 4,194,304 bytes: big.log]",
    ]
    assert Toolbox(str(tmp_path)).run("grep", {"pattern": "^$", "path": "*.txt"}) == "long.txt:2: "


def test_what_may_not_be_shown_is_not_searched(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text(HELD)
    (tmp_path / "open.txt").write_text("aaa\n")
    box = Toolbox(str(tmp_path), shows=lambda path: path != "secret", seconds=20)
    told = "open.txt:1: aaa\n[not searched, by the user's rules: 1]"
    assert box.run("grep", {"pattern": ENDLESS}) == told


def test_more_than_is_shown_is_said_to_be_there(tmp_path: Path) -> None:
    for n in range(300):
        (tmp_path / f"f{n:03}.txt").write_text("x\n")
    box = Toolbox(str(tmp_path))
    for name, fields in (("list", {}), ("glob", {"pattern": "*.txt"})):
        lines = box.run(name, fields).split("\n")
        assert (len(lines), lines[-1]) == (201, "[… and 100 more]")
    lines = box.run("grep", {"pattern": "x"}).split("\n")
    assert (len(lines), lines[-1]) == (201, "[… there is more; look for less]")
    (tmp_path / "f000.txt").write_text("x\n" * 200)
    assert len(box.run("grep", {"pattern": "x", "path": "f000.txt"}).split("\n")) == 200


def test_only_what_is_beneath_a_path_is_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.files.Root.walk.__defaults__", (".", 50, lambda found: False))
    for n in range(3):
        (tmp_path / f"d{n}" / "in").mkdir(parents=True)
        for k in range(20):
            (tmp_path / f"d{n}" / "in" / f"{k}.txt").write_text(f"NEEDLE {k}\n")
    box = Toolbox(str(tmp_path))
    for path in ("d1/in/7.txt", "./d1/in/7.txt", "d1/**/7.txt", "d1/in/7.*"):
        assert box.run("grep", {"pattern": "NEEDLE", "path": path}) == "d1/in/7.txt:1: NEEDLE 7"
    for path in ("d1", "d1/", "d1/in", "d1/**/*.txt"):
        assert len(box.run("grep", {"pattern": "NEEDLE", "path": path}).split("\n")) == 20
    assert box.run("glob", {"pattern": "d2/**/3.txt"}) == "d2/in/3.txt"
    with pytest.raises(HoldfastError, match="name a smaller directory"):
        box.run("grep", {"pattern": "nowhere"})
    with pytest.raises(HoldfastError):
        box.run("grep", {"pattern": "root", "path": "/etc"})


@pytest.mark.parametrize("pattern", ["(", "[", "*", "(" * 5_000 + ")" * 5_000])
def test_what_is_no_pattern_is_told(tmp_path: Path, pattern: str) -> None:
    with pytest.raises(InvalidRequest, match="no pattern"):
        Toolbox(str(tmp_path)).run("grep", {"pattern": pattern})


def test_names_that_are_no_text_are_searched(tmp_path: Path) -> None:
    with open(os.fsencode(tmp_path) + b"/\xff.txt", "w") as file:
        file.write("NEEDLE\n")
    assert Toolbox(str(tmp_path)).run("grep", {"pattern": "NEEDLE"}) == "\udcff.txt:1: NEEDLE"
