"""Named places where a test may make the program stop or fail; silent otherwise."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Mapping

POINTS = (
    "store.after_begin",
    "store.before_commit",
    "store.after_commit",
    "migrate.before_step",
    "migrate.before_record",
    "session.after_insert",
    "append.before_insert",
    "append.after_key",
    "append.after_entries",
    "append.after_parts",
    "append.after_markers",
    "append.after_head",
    "call.after_record",
    "search.before_insert",
    "search.before_mark",
    "erase.before_copy",
    "erase.before_delete",
    "erase.before_sweep",
    "erasing.after_lease",
    "erasing.before_swap",
    "backup.before_copy",
    "backup.before_name",
    "mend.before_commit",
    "salvage.after_rows",
    "salvage.after_link",
    "salvage.before_swap",
    "import.before_append",
    "import.after_append",
    "import.before_keep",
    "import.before_mark",
    "import.after_bring",
    "rewind.kept",
    "rewind.staged",
    "rewind.moved",
    "rewind.placed",
    "rewind.before_marker",
    "rewind.before_settled",
    "compaction.planned",
    "compaction.asking",
    "compaction.written",
    "compaction.before_apply",
    "memory.asking",
    "memory.answered",
    "memory.decided",
    "memory.file_written",
    "memory.before_record",
    "memory.rollout_leased",
    "memory.rollout_kept",
    "memory.laid_out",
    "memory.consolidated",
)
"""Every failpoint there is; arming another is an error."""

VARIABLE = "HOLDFAST_FAILPOINTS"
"""Where `arm_from` looks: `point=kill:3,point=fail:1`, the number being the passing that acts."""

_armed: dict[str, Callable[[], None]] = {}


def armed() -> bool:
    """Whether any point would act."""
    return bool(_armed)


def failpoint(name: str) -> None:
    """Do what this point was armed with; nothing, usually."""
    if _armed and (act := _armed.get(name)):
        act()


def arm(name: str, act: Callable[[], None]) -> None:
    """Make a point act from now on."""
    if name not in POINTS:
        raise ValueError(f"no failpoint {name!r}; there are {', '.join(POINTS)}")
    _armed[name] = act


def arm_from(environ: Mapping[str, str]) -> None:
    """Arm what the environment asks for; only a test's own process ever calls this."""
    for wish in filter(None, environ.get(VARIABLE, "").split(",")):
        name, _, what = wish.partition("=")
        verb, _, count = what.partition(":")
        if verb not in _VERBS or not (count or "1").isdecimal():
            raise ValueError(f"{wish!r} in {VARIABLE}: write point=kill:3 or point=fail:3")
        arm(name, _VERBS[verb](int(count or 1)))


def disarm() -> None:
    """Make every point silent again."""
    _armed.clear()


def kill_at(count: int) -> Callable[[], None]:
    """Kill this process, unannounced, when the point is reached for the `count`th time."""

    def kill() -> None:
        os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(60)  # until the signal arrives

    return _at(count, kill)


def fail_at(count: int) -> Callable[[], None]:
    """Raise, when the point is reached for the `count`th time."""

    def fail() -> None:
        raise RuntimeError(f"told to fail at passing {count}")

    return _at(count, fail)


def _at(count: int, act: Callable[[], None]) -> Callable[[], None]:
    left = count

    def counting() -> None:
        nonlocal left
        left -= 1
        if left == 0:
            act()

    return counting


_VERBS = {"kill": kill_at, "fail": fail_at}
