"""Every error Holdfast raises: the class says what the caller should do next.

HoldfastError
├── Misuse              you asked for what cannot be              → fix the call
│   ├── Unknown         no such session, entry, store, setting    → use the nearest match, or list
│   └── Unsafe          a path or file that must not be used      → move it, or fix owner and mode
├── OverBudget          it does not fit, even compacted           → shorten what it names
├── Refused             a request that a provider would refuse    → report it: this should not be
├── StoreError          the store could not do it; nothing was half done
│   ├── Conflict        someone appended first                    → load again, or go on in a fork
│   ├── Unavailable     locked, read-only, full, or on a network file system → free it, then retry
│   ├── Outdated        the file and this program differ in schema version  → upgrade the program
│   └── Corrupt         what was read is not what was written     → run `holdfast doctor`
└── ProviderError       the model's side failed
"""

from __future__ import annotations

from collections.abc import Sequence


class HoldfastError(Exception):
    """The root: catching it catches everything Holdfast raises on purpose."""


class Misuse(HoldfastError):
    """The call cannot be right as it is; nothing happened."""


class Unknown(Misuse):
    """A name that leads nowhere, with the nearest one that does."""

    def __init__(self, kind: str, name: str, nearest: tuple[str, ...] = (), do: str = "") -> None:
        self.kind, self.name, self.nearest, self.do = kind, name, nearest, do
        hint = f"; did you mean {' or '.join(nearest)}?" if nearest else ""
        super().__init__(f"no {kind} {name!r}{hint}{f' {do}' if do else ''}")


class Unsafe(Misuse):
    """A path or file that must not be used as it is."""

    def __init__(self, path: str, why: str, do: str) -> None:
        self.path, self.why, self.do = path, why, do
        super().__init__(f"{path!r} {why}; {do}")


class OverBudget(HoldfastError):
    """What must be sent does not fit the model, even after everything else has left."""


class StoreError(HoldfastError):
    """The store could not do what was asked; nothing was half done."""


class Conflict(StoreError):
    """Somebody else appended first."""

    def __init__(self, session: str, expected: int, found: int) -> None:
        self.session, self.expected, self.found = session, expected, found
        super().__init__(
            f"session {session} has gone on: expected its last entry at {expected}, found {found}; "
            "load it again, or continue in a fork"
        )


class Unavailable(StoreError):
    """The store cannot be used now: locked, read-only, full, or in an unsuitable place."""


class Outdated(StoreError):
    """The store's schema is newer than this program."""

    def __init__(self, found: int, known: int, where: str) -> None:
        self.found, self.known, self.where = found, known, where
        super().__init__(
            f"{where} has schema version {found}, this program knows up to {known}; "
            "upgrade holdfast (nothing was changed)"
        )


class Corrupt(StoreError):
    """What was read is not what was written."""


class Refused(HoldfastError):
    """A provider would refuse this request; it was not sent."""

    def __init__(self, format: str, violations: Sequence[object]) -> None:
        self.format, self.violations = format, tuple(violations)
        told = "; ".join(str(getattr(v, "message", v)) for v in self.violations[:3])
        super().__init__(f"{format} would refuse this request: {told}")


class ProviderError(HoldfastError):
    """The model's side failed."""


class SessionForked(UserWarning):
    """Told to a second writer: somebody else went on, so this handle goes on in a fork."""
