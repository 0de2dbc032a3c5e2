"""What is known of models, and which policies there are."""

from __future__ import annotations

from holdfast import policies
from holdfast.model.policy import Policy
from holdfast.model.profile import Profile


class BuiltIn:
    """The catalogue that comes with Holdfast."""

    def profile(self, model: str) -> Profile:
        """A model's profile; safe, stated assumptions for one that nobody knows."""
        return Profile(name=model, assumed=("window", "output_limit", "prices", "abilities"))

    def policy(self, name: str) -> Policy:
        """A policy by its name, or by the path of its file."""
        return policies.policy(name)
