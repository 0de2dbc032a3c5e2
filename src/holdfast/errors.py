"""Every error Holdfast raises: the class says what the caller should do next.

HoldfastError
├── InvalidRequest      you asked for what cannot be              → fix the call
│   ├── NotFound        no such session, entry, store, setting    → use the nearest match, or list
│   │   └── Ambiguous   a beginning that fits several             → give more letters
│   ├── Unsafe          a path or file that must not be used      → move it, or fix owner and mode
│   └── FilesChanged    a rewind would overwrite work of others   → decide for each file
├── OverBudget          it does not fit, even compacted           → shorten what it names
├── Capped              the next call would reach a cap           → raise the cap, or stop here
├── Refused             a request that a provider would refuse    → report it: this should not be
├── StoreError          the store could not do it; nothing was half done
│   ├── Conflict        someone appended first                    → load again, or go on in a fork
│   ├── Unavailable     locked, read-only, full, or on a network file system → free it, then retry
│   ├── Outdated        the file and this program differ in schema version  → upgrade the program
│   └── Corrupt         what was read is not what was written     → run `holdfast doctor`
└── ProviderError       the model's side failed
    ├── AuthError       the key, or what it may do                → fix the key
    ├── ProviderRejected  they will never accept this               → do not send it again
    ├── Overflow        it is too long, they say                  → compact, then send
    ├── Throttled       too much at once                          → wait, then send again
    ├── Unreachable     the network, a timeout, or they are down  → send again
    └── BadResponse     their answer makes no sense               → send again, or report it
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class HoldfastError(Exception):
    """The root: catching it catches everything Holdfast raises on purpose."""


class InvalidRequest(HoldfastError):
    """The call cannot be right as it is; nothing happened."""


class NotFound(InvalidRequest):
    """A name that leads nowhere, with the nearest one that does."""

    def __init__(self, kind: str, name: str, nearest: tuple[str, ...] = (), do: str = "") -> None:
        self.kind, self.name, self.nearest, self.do = kind, name, nearest, do
        near = f"did you mean {' or '.join(nearest)}?" if nearest else ""
        hint = " ".join(filter(None, (near, do)))
        super().__init__(f"no {kind} {name!r}{f'; {hint}' if hint else ''}")


class Ambiguous(NotFound):
    """The beginning of several names, with two of them."""

    def __init__(self, kind: str, name: str, nearest: tuple[str, ...], many: int) -> None:
        super().__init__(kind, name, nearest, "give more letters")
        self.many = many
        self.args = (
            f"{name} fits {many:,} {kind}s; give more letters, as in {' or '.join(nearest)}",
        )


class Unsafe(InvalidRequest):
    """A path or file that must not be used as it is."""

    def __init__(self, path: str, why: str, do: str) -> None:
        self.path, self.why, self.do = path, why, do
        super().__init__(f"{path!r} {why}; {do}")


class FilesChanged(InvalidRequest):
    """Files that a rewind would put back were changed by somebody else; nothing was done.

    `plan` is what it would do, with each conflict.
    """

    def __init__(self, plan: Any, conflicts: Sequence[tuple[str, str]]) -> None:
        self.plan, self.conflicts = plan, tuple(conflicts)
        told = "; ".join(f"{path} {why}" for path, why in self.conflicts[:3])
        more = f", and {len(self.conflicts) - 3} more" if len(self.conflicts) > 3 else ""
        super().__init__(
            f"nothing was put back: {told}{more}; decide for each file, keep or restore"
        )


class OverBudget(HoldfastError):
    """What must be sent does not fit the model, even after everything else has left."""


class Capped(HoldfastError):
    """The next call would reach a cap, so it was not made; money in billionths of a US dollar."""

    def __init__(self, of: str, *, cap: int, spent: int, price: int, held: int = 0) -> None:
        self.of, self.cap, self.spent, self.price, self.held = of, cap, spent, price, held
        whose = "this session has" if of == "session" else "today's sessions have"
        under_way = f"{held / 1e9:.4f} is held for calls under way, " if held else ""
        super().__init__(
            f"{whose} cost {spent / 1e9:.4f} USD, {under_way}"
            f"the next call is about {price / 1e9:.4f} more, "
            f"and {cap / 1e9:g} is the cap; raise it with --cap-{of}, or under [caps] in "
            "settings.toml"
        )


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


class Changed(StoreError):
    """A text was changed by somebody else since it was read: read it again."""


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

    def __init__(
        self, message: str, *, provider: str = "", status: int = 0, request: str = ""
    ) -> None:
        self.provider, self.status, self.request = provider, status, request
        super().__init__(message)


class AuthError(ProviderError):
    """The key is missing, wrong, or may not do this."""


class ProviderRejected(ProviderError):
    """The provider will never accept this request."""


class Overflow(ProviderError):
    """The provider says the prompt is too long; `limit` is what it allows, where it says so."""

    def __init__(self, message: str, *, limit: int | None = None, **told: Any) -> None:
        self.limit = limit
        super().__init__(message, **told)


class Throttled(ProviderError):
    """Too much at once; `after` is how many seconds to wait, where the provider says so."""

    def __init__(self, message: str, *, after: float | None = None, **told: Any) -> None:
        self.after = after
        super().__init__(message, **told)


class Unreachable(ProviderError):
    """The network failed, nothing came in time, or the provider is down."""


class BadResponse(ProviderError):
    """The provider's answer could not be read; `raw` is its beginning."""

    def __init__(self, message: str, *, raw: bytes = b"", **told: Any) -> None:
        self.raw = raw
        super().__init__(message, **told)


class AssumedModel(UserWarning):
    """Told once: nobody has said how much a model holds, so a small window is assumed."""


class UnpricedModel(UserWarning):
    """Told once where there is a cap: nobody knows what a model costs, so no cap holds for it."""


class SessionForked(UserWarning):
    """Told to a second writer: somebody else went on, so this handle goes on in a fork."""


class CallsLost(UserWarning):
    """Told once, as an old store is opened: rows of model calls had been overwritten in it."""


class NotMeasured(UserWarning):
    """Told once: telemetry was asked for, and cannot be set up as it was."""
