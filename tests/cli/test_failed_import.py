"""An import that brings nothing leaves nothing: no store, and no file beside it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from holdfast.cli import main


def imported(store: Path, *paths: Path) -> int:
    run = CliRunner().invoke(main, ["import", *map(str, paths), "--store", str(store)])
    assert "Traceback" not in run.output
    return run.exit_code


@pytest.mark.parametrize("content", [None, b"", b"not a transcript\n", b'{"type": "unknown"}\n'])
def test_a_failed_import_leaves_no_empty_store(tmp_path: Path, content: bytes | None) -> None:
    store, file = tmp_path / "there" / "store.db", tmp_path / "transcript.jsonl"
    store.parent.mkdir(mode=0o700)
    if content is not None:
        file.write_bytes(content)
    imported(store, file)
    assert os.listdir(store.parent) == []


def test_a_failed_import_leaves_a_store_that_was_there(tmp_path: Path) -> None:
    store, file = tmp_path / "store.db", tmp_path / "t.jsonl"
    lines = [
        {"type": "user", "uuid": "u", "sessionId": "s", "message": {"role": "user", "content": "x"}}
    ]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    imported(store, file)
    assert store.exists()
    imported(store, tmp_path / "nowhere.jsonl")
    assert store.exists()
