"""`make run` shows what it installs, and leaving it with Ctrl-C or Ctrl-D is no failure."""

import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from holdfast.testing import StrictServer
from holdfast.testing.strict.script import answer
from tools.tmux import Terminal

ROOT = Path(__file__).resolve().parents[2]


def environment(place: Path) -> Path:
    """An environment that make takes for a whole one; its Python is ours."""
    (place / "bin").mkdir(parents=True)
    (place / "bin" / "python").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    (place / "bin" / "python").chmod(0o755)
    (place / ".run").touch()
    return place


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("tmux") or not shutil.which("make"), reason="needs tmux")
def test_leaving_after_an_interruption_is_no_failure(tmp_path: Path) -> None:
    place = environment(tmp_path / "venv")
    with StrictServer(answer("Once upon a time.", delay=30)) as server:
        terminal = Terminal(tmp_path, server.url("anthropic"))
        try:
            terminal.type(f"make -C {ROOT} run VENV={place}; echo it ended with $?")
            terminal.wait("of the window of")
            terminal.type("Tell me a long story")
            terminal.wait("thinking…")
            terminal.press("C-c")
            terminal.wait("interrupted")
            terminal.press("C-d")
            terminal.wait("\nit ended with 0")
        finally:
            terminal.close()


def wheel(folder: Path, name: str) -> str:
    """A package that holds nothing, in a wheel; its pin."""
    file, info = folder / f"{name}-1.0-py3-none-any.whl", f"{name}-1.0.dist-info"
    with zipfile.ZipFile(file, "w") as made:
        made.writestr(f"{name}.py", "")
        made.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        made.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        made.writestr(f"{info}/RECORD", f"{name}.py,,\n{info}/METADATA,,\n{info}/WHEEL,,\n")
    return f"{name}==1.0 --hash=sha256:{hashlib.sha256(file.read_bytes()).hexdigest()}\n"


def install(folder: Path, lock: Path) -> subprocess.CompletedProcess[str]:
    options = ("--no-index", "--find-links", str(folder), "--target", str(folder / "there"))
    return subprocess.run(
        [sys.executable, str(ROOT / "tools" / "install.py"), str(lock), *options],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "PIP_CONFIG_FILE": os.devnull},
    )


@pytest.mark.slow
def test_an_installation_says_how_far_it_is_and_a_failed_one_why(tmp_path: Path) -> None:
    pytest.importorskip("pip")
    lock = tmp_path / "run.lock"
    lock.write_text(wheel(tmp_path, "one") + wheel(tmp_path, "two"))
    done = install(tmp_path, lock)
    assert done.returncode == 0, done.stderr
    assert "2 packages, " in done.stdout
    assert (tmp_path / "there" / "two.py").exists()
    lock.write_text("three==1.0 --hash=sha256:" + "0" * 64 + "\n")
    done = install(tmp_path, lock)
    assert done.returncode != 0
    assert "No matching distribution found for three" in done.stderr


def test_what_pip_says_is_told_in_one_line() -> None:
    from tools.install import Progress

    progress = Progress(12)
    progress.hear("Collecting prompt-toolkit==3.0.53 (from -r run.lock (line 9))\n")
    assert str(progress) == "   1 of about 12 · prompt-toolkit · 0 s"
    progress.hear("  Downloading prompt_toolkit-3.0.53-py3-none-any.whl (391 kB)\n")
    assert "prompt_toolkit (391 kB)" in str(progress)
    progress.hear("Installing collected packages: a, b\n")
    assert "unpacking" in str(progress)
