"""What a session may cost, and who pays for it: a subtask is paid by whose part it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from msgspec.structs import replace

from holdfast.engine.arguments import checks_arguments
from holdfast.engine.writer import OnConflict, Writer
from holdfast.model.caps import Caps
from holdfast.model.log import Session

if TYPE_CHECKING:
    from holdfast.engine.engine import Engine


@checks_arguments
class Purse(Writer):
    """A writer that pays for calls, within caps."""

    def __init__(
        self, engine: Engine, session: Session, on_conflict: OnConflict = "append", spent: int = 0
    ) -> None:
        super().__init__(engine, session, on_conflict, spent)
        self._caps, self.held = engine.caps, engine.held
        """What may be spent from here on, and what is held for calls under way."""
        self.whole = self._whole
        self.payer: Purse | None = None
        """Whose subtask it is."""

    @property
    def caps(self) -> Caps:
        """What may be spent, in US dollars."""
        return self._caps

    def _whole(self) -> str:
        """The session whose cap holds for it: its own, or that of whom it is a subtask."""
        return self.payer.whole() if self.payer else self.id

    def _pay(self, cost: int) -> None:
        super()._pay(cost)
        if self.payer:
            self.payer.pay(cost)

    def capped(self, session: float | None = None, day: float | None = None) -> Self:
        """Change what may be spent, in US dollars; None leaves a cap as it is."""
        told = {"session": session, "day": day}
        changes = {name: value for name, value in told.items() if value is not None}
        self._caps = replace(self._caps, **changes) if changes else self._caps
        return self
