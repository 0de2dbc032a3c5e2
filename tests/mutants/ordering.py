"""A plugin for pytest: the chosen tests run, in the order given, and the one running is named."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import hypothesis
import pytest


class Ordering:
    """Examples are the same for every mutant, and one that fails is not made smaller."""

    def __init__(self, tests: Sequence[str] = (), said: Path | None = None) -> None:
        self._places = {name: nth for nth, name in enumerate(tests)}
        self._said = said

    def pytest_sessionstart(self) -> None:
        phases = (hypothesis.Phase.explicit, hypothesis.Phase.generate)
        hypothesis.settings.register_profile(
            "mutants", hypothesis.settings.get_profile("house"),
            phases=phases, database=None, derandomize=True,
        )  # fmt: skip
        hypothesis.settings.load_profile("mutants")

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        if self._said is None:
            return
        chosen = [item for item in items if item.nodeid in self._places]
        items[:] = sorted(chosen, key=lambda item: self._places[item.nodeid])

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> None:
        if self._said:
            self._said.write_text(item.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed and self._said:
            self._said.write_text(f"{report.nodeid} cannot be imported")
