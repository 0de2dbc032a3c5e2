"""For whoever tests with Holdfast: contracts to inherit, a scripted provider, a strict server.

`contracts` needs pytest and `strategies` needs Hypothesis; the rest needs neither.
"""

from holdfast.testing.strict import StrictServer

__all__ = ["StrictServer"]
