"""What was imported goes on with any provider: the strict server takes every window."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

import holdfast
from holdfast.providers.endpoint import HttpProvider
from holdfast.providers.transport import HttpTransport
from holdfast.testing import StrictServer
from holdfast.testing.contracts.importer import WINDOWS
from tests.conftest import SHARED_DATA
from tests.importers import gemini_writing, opencode_writing
from tests.importers.looking import bring, said

PROVIDERS = {"anthropic": "anthropic", "openai-responses": "openai", "openai-chat": "openai",
             "gemini": "google"}  # fmt: skip

WRITTEN: dict[str, Callable[[Path], Path]] = {
    "gemini-lines": lambda place: gemini_writing.story().write(place),
    "gemini-document": lambda place: gemini_writing.story().document(place),
    "opencode-export": lambda place: opencode_writing.story().export(place),
    "opencode-tree": lambda place: opencode_writing.story().tree(place),
    "opencode-database": lambda place: opencode_writing.database(place, opencode_writing.story()),
}
REAL = [
    path
    for agent in ("gemini", "opencode")
    for path in sorted((SHARED_DATA / "transcripts" / agent).rglob("*.json*"))
    if ".expected." not in path.name and not {"message", "part"} & {*path.parts}
]


def carried_on(path: Path) -> None:
    for model, format in WINDOWS:
        with (
            holdfast.open("memory:") as hf,
            StrictServer("Understood.", foreign=True) as server,
            closing(HttpTransport(PROVIDERS[format], key="sk-test",
                                  url=server.url(PROVIDERS[format]))) as transport,
        ):  # fmt: skip
            (report,) = bring(hf, path)
            session = hf.session(report.sessions[0])
            session.user("Go on, please.")
            entry = session.send(HttpProvider(transport, format), model=model)
            assert said(entry) == "Understood."
            assert not server.refused


@pytest.mark.parametrize("form", WRITTEN)
def test_every_form_goes_on(form: str, tmp_path: Path) -> None:
    carried_on(WRITTEN[form](tmp_path))


@pytest.mark.parametrize("path", REAL, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_sessions_of_real_people_go_on(path: Path) -> None:
    carried_on(path)
