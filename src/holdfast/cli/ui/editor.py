"""A text in the user's own editor: a private file that is gone afterwards."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile

from holdfast.errors import InvalidRequest
from holdfast.files import Root, private_directory, write_atomic

LARGEST = 16 * 1024 * 1024
NAME = "summary.md"


def edited(text: str) -> str:
    """The text as it is once the editor is closed, without white space around it."""
    with tempfile.TemporaryDirectory(prefix="holdfast-edit-") as folder:
        file = private_directory(folder) / NAME
        write_atomic(file, f"{text}\n".encode("utf-8", "surrogateescape"))
        _open(str(file))
        return Root(folder).read(NAME, LARGEST).decode("utf-8", "replace").strip()


def _open(file: str) -> None:
    """Wait until the editor is closed."""
    named = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    try:
        done = subprocess.run([*shlex.split(named), file], check=False)
    except (OSError, ValueError) as error:
        raise InvalidRequest(
            f"the editor {named!r} cannot be started ({error}), so nothing was changed; set VISUAL "
            "or EDITOR to one that can"
        ) from error
    if done.returncode:
        raise InvalidRequest(
            f"the editor {named!r} ended with {done.returncode}, so nothing was changed; do it "
            "again, or leave out --edit"
        )
