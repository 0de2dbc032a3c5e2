"""The ledger: what a session's log says exactly, rendered for a summary and held against one."""

from holdfast.core.ledger.objections import objections
from holdfast.core.ledger.render import render
from holdfast.core.ledger.retention import retention
from holdfast.core.ledger.stepping import current, ledger, step

__all__ = ["current", "ledger", "objections", "render", "retention", "step"]
