"""How a window is split: what a prompt may take, and what each section gets of it.

The order: output first, then a margin for error, then system prompt and tools as measured, then the
slices for the repo map, memory and pins, then chat files, and history takes what is left, up to its
own cap where a policy has one. What was just asked always goes in.

Reserves shrink with small windows: no fixed number may leave a small model without room.
"""

from __future__ import annotations

from holdfast.model.profile import Profile
from holdfast.model.window import Block, Budget, BudgetConfig

OUTPUT_SHARE = 4
"""The output reserve is at most this part of the window: a quarter."""

SMALLEST_SHARE = 4
"""A slice's lower bound, and a map that is alone, is at most this part of what remains."""


def budget(
    profile: Profile, config: BudgetConfig, system: int = 0, *, files: bool = True
) -> Budget:
    """The budget of a model under a policy, with the system prompt and tools as measured."""
    output, margin, room = room_of(profile, config)
    fixed = config.system_prompt_reserve or system
    left = max(0, room - fixed)
    return Budget(
        window=profile.window,
        output=output,
        margin=margin,
        room=room,
        system=fixed,
        repo_map=_repo_map(left, profile.window, config, files=files),
        memory=_slice(left, left, config.memory_fraction, 0, config.memory_max, config),
        pins=int(left * config.pins_fraction),
        chat_files=left // 2,
        history=_history(left, profile.window, config),
        request_bytes=profile.request_bytes,
        most_images=profile.most_images,
        most_tools=profile.most_tools,
        most_breakpoints=4 if profile.can("cache_breakpoints") else 0,
    )


def room_of(profile: Profile, config: BudgetConfig) -> tuple[int, int, int]:
    """The output reserve, the margin, and what is left for a prompt; nothing is less than 0."""
    window = int(profile.window * config.usable_fraction)
    reserve = min(config.output_reserve, profile.output_limit, window // OUTPUT_SHARE)
    output = config.output or reserve
    reserved = min(config.usable_reserved, window // OUTPUT_SHARE)
    margin = round(max(window - output - reserved, 0) * config.safety_margin_fraction)
    room = window - output - reserved - margin
    if profile.input_limit:
        kept = min(config.input_reserved, output, profile.input_limit // OUTPUT_SHARE)
        room = min(room, profile.input_limit - kept)
    return output, margin, max(room, 0)


def clamp(value: float, least: int, most: int) -> int:
    """A value held between two bounds; the upper one wins."""
    return int(min(max(value, least), most))


def _slice(
    left: int, whole: int, fraction: float, least: int, most: int, config: BudgetConfig
) -> int:
    floor = min(least, left // SMALLEST_SHARE) if config.slices_shrink else least
    return clamp(whole * fraction, floor, most)


def _repo_map(left: int, window: int, config: BudgetConfig, *, files: bool) -> int:
    """With no files in the chat the map takes more, but no more than its part of a small window."""
    whole = window if config.repo_map_of == "window" else left
    least, most = config.repo_map_min, config.repo_map_max
    usual = _slice(left, whole, config.repo_map_fraction, least, most, config)
    many = usual * (1 if files else config.repo_map_without_files)
    return max(usual, min(many, left // SMALLEST_SHARE)) if config.slices_shrink else many


def _history(left: int, window: int, config: BudgetConfig) -> int:
    """A capped history is a share of the window; one without a cap takes what is left."""
    if not config.chat_history_capped:
        return left
    share = window * config.chat_history_fraction
    return min(left, clamp(share, config.chat_history_min, config.chat_history_max))


def largest(blocks: tuple[Block, ...], many: int = 3) -> tuple[Block, ...]:
    """The blocks that take most: what to name when something does not fit."""
    return tuple(sorted(blocks, key=lambda block: block.tokens, reverse=True)[:many])
