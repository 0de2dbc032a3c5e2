"""What each system does, written down once more from its description: no policy and no engine here.

Everything works on plain tuples by their place in the log. Numbers are those of the documents.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tests.policies.story import Said


def bytes_4(text: str) -> int:
    """Codex: four bytes a token, rounded up."""
    return -(-len(text.encode()) // 4)


def chars_4(text: str) -> int:
    """OpenCode: four characters a token, rounded."""
    return int(len(text) / 4 + 0.5)


def requests(said: Mapping[int, Said], places: Sequence[int]) -> list[int]:
    """The places where the user asks something."""
    return [place for place in places if said[place].role == "user"]


def splittable(said: Mapping[int, Said], places: Sequence[int], at: int) -> bool:
    """Whether what stands at this index may be the first: never a result without its call."""
    return at == len(places) or said[places[at]].role != "tool"


class Kept(NamedTuple):
    """A message that stays, and to how many tokens it is cut; 0 for not at all."""

    place: int
    tokens: int = 0


def codex_keeps(
    said: Mapping[int, Said], places: Sequence[int], budget: int = 20_000
) -> list[Kept]:
    """Codex: the user's messages, newest first, within 20,000 tokens; the oldest of them cut."""
    chosen: list[Kept] = []
    for place in reversed(requests(said, places)):
        tokens = bytes_4(said[place].text)
        if tokens > budget:
            if budget > 0:
                chosen.append(Kept(place, budget))
            break
        chosen.append(Kept(place))
        budget -= tokens
    return chosen[::-1]


def opencode_prunes(
    said: Mapping[int, Said], places: Sequence[int], gone: set[int], lengths: Mapping[int, int]
) -> list[int]:
    """OpenCode: results beyond the newest 40,000 tokens, not of the last two turns or of skill."""
    total, turns = 0, 0
    found: list[int] = []
    for place in reversed(places):
        one = said[place]
        turns += one.role == "user"
        if turns < 2 or one.role != "tool" or one.tool == "skill":
            continue
        if place in gone:
            break
        total += lengths[place]
        if total > 40_000:
            found.append(place)
    freed = sum(lengths[place] for place in found)
    return sorted(found) if freed > 20_000 else []


def tail_within(
    said: Mapping[int, Said], places: Sequence[int], lengths: Mapping[int, int], budget: int
) -> list[int]:
    """OpenCode: as much of the newest as fits a budget, beginning where it may begin."""
    taken, start = 0, len(places)
    for index in range(len(places) - 1, -1, -1):
        taken += lengths[places[index]]
        if taken > budget:
            break
        start = index
    while not splittable(said, places, start):
        start += 1
    return list(places[start:])


def gemini_splits(said: Mapping[int, Said], places: Sequence[int], sizes: Mapping[int, int]) -> int:
    """Gemini CLI: before the first message of the user's behind seven tenths of all characters."""
    target, passed, last = sum(sizes[place] for place in places) * 0.7, 0, 0
    for index, place in enumerate(places):
        if said[place].role == "user":
            if passed >= target:
                return index
            last = index
        passed += sizes[place]
    newest = said[places[-1]]
    return len(places) if newest.role == "assistant" and not newest.calls else last


def claude_clears(said: Mapping[int, Said], places: Sequence[int], keep: int) -> list[int]:
    """Claude Code: results of the listed tools, but for the newest few."""
    listed = {"Read", "Bash", "Grep", "Glob", "WebSearch", "WebFetch", "Edit", "Write"}
    found = [place for place in places if said[place].tool in listed]
    return found[: len(found) - keep] if len(found) > keep else []


def aider_splits(
    said: Mapping[int, Said], places: Sequence[int], tokens: Mapping[int, int], budget: int
) -> int:
    """Aider: half the budget from the end, then back until the head ends with a reply.

    Where that leaves no room for a summary it begins anew; here the tail is made shorter instead.
    """
    taken, split = 0, len(places)
    for index in range(len(places) - 1, -1, -1):
        if taken + tokens[places[index]] >= budget // 2:
            break
        taken += tokens[places[index]]
        split = index
    back = split
    while back > 0 and not _replied(said[places[back - 1]]):
        back -= 1
    if back and sum(tokens[place] for place in places[back:]) <= budget * 3 // 4:
        return back
    while split < len(places) and not _replied(said[places[split - 1]]):
        split += 1
    return split


def _replied(one: Said) -> bool:
    return one.role == "assistant" and not one.calls


def unread_of(said: Mapping[int, Said], places: Sequence[int]) -> list[int]:
    """The places of the results that no reply has come to, with the reply that called for them."""
    results: list[int] = []
    for at in reversed(places):
        if not said[at].call:
            return [at, *results] if results and said[at].role == "assistant" else results
        results.insert(0, at)
    return results
