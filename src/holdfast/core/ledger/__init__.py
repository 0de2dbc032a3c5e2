"""The ledger: what a session's log says exactly, rendered for a summary and held against one."""

from holdfast.core.ledger.stepping import current, ledger, step

__all__ = ["current", "ledger", "step"]
