"""A file that loses its beginning while it grows: each thing that it tells is known by itself.

What is new goes behind everything else, whatever is left of what was told before.
"""

from __future__ import annotations

from functools import cached_property

from holdfast.engine.trail import Trail
from holdfast.model.message import Message


class Rolling(Trail):
    """One imported session that such files tell of."""

    async def known(
        self, print: bytes, native: str = "", told: Message | None = None,
        *, before: bytes = b"", bare: bytes = b"",
    ) -> int:  # fmt: skip
        """The entry that what is told has become already; 0 where it is new."""
        if self.session is None:
            await self._create(self._wanted)
        self._at = len(self._places)
        return self._seqs.get(print, 0)

    @cached_property
    def _seqs(self) -> dict[bytes, int]:
        return dict(zip(self._prints, self._places, strict=True))
