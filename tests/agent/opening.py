"""A store on disk whose models all hold as much as a test says."""

from pathlib import Path

from holdfast.engine.doors import Holdfast, ThreadLock
from holdfast.engine.engine import Engine
from holdfast.engine.identity import SystemClock, Ulids
from holdfast.engine.plugins import open_store
from holdfast.engine.threaded import spoken
from tests.properties.histories import Small


def small(tmp_path: Path, window: int) -> Holdfast:
    """A store in which every model holds so many tokens."""
    clock = SystemClock()
    return Holdfast(
        Engine(
            open_store(str(tmp_path / "log.db")), clock=clock, ids=Ulids(clock), lock=ThreadLock,
            catalogue=Small(window), voice=spoken,
        )
    )  # fmt: skip
