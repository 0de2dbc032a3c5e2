"""A private copy of the checkout with an interpreter of its own: no mutant touches the original.

The copy's interpreter finds the copy's source first and everything else where the running one finds
it. Programs that tests start with `sys.executable` are therefore mutated too, whatever environment
they are given.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = Path("src/holdfast")


def copy(folder: Path) -> Path:
    """The files git knows or would take, copied beneath `folder`; returns the root of the copy."""
    root = folder / ROOT.name
    for name in _names():
        there = root / name
        there.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, there)
    shared = ROOT.parent / "shared"
    if shared.is_dir():
        (folder / "shared").symlink_to(shared)
    _environment(root)
    return root


def sources(root: Path = ROOT) -> dict[str, bytes]:
    """Every module of the package by its path beneath the root."""
    return {
        file.relative_to(root).as_posix(): file.read_bytes()
        for file in sorted((root / SOURCE).rglob("*.py"))
    }


def interpreter(root: Path) -> Path:
    return root / ".venv" / "bin" / "python"


def _names() -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, check=True,
    )  # fmt: skip
    names = listed.stdout.decode().split("\0")
    return [name for name in names if name and (ROOT / name).is_file()]


def _environment(root: Path) -> None:
    """A virtual environment that holds nothing but two lines of paths."""
    own = root / ".venv"
    packages = own / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    packages.mkdir(parents=True)
    borrowed = [path for path in sys.path if path.endswith("site-packages")]
    (packages / "_tree.pth").write_text("\n".join([str(root / "src"), *borrowed]) + "\n")
    (own / "bin").mkdir()
    executable = os.path.realpath(sys.executable)
    interpreter(root).symlink_to(executable)
    (own / "pyvenv.cfg").write_text(f"home = {Path(executable).parent}\n")
    script = Path(sys.prefix) / "bin" / "holdfast"
    if script.is_file():
        _, _, rest = script.read_text().partition("\n")
        mine = own / "bin" / "holdfast"
        mine.write_text(f"#!{interpreter(root)}\n{rest}")
        mine.chmod(0o755)
