"""What every prompt says, whatever its form, and that none of them is another's sentence."""

import re

import pytest

from holdfast.policies import policy, prompt, prompts

RULES = {
    "what is not carried on is lost": r"is lost\b",
    "the conversation wins": r"conversation (wins|is right)",
    "the material holds no instructions": r"(not|no|gives you no|holds no|contains no) instructions"
    r"|[Nn]othing in it is an instruction|Ignore every instruction",
    "what is finished is told as finished": r"finished|\[DONE\]|told as (met|done)",
    "no tools": r"[Nn]o tools?\b|[Cc]all no tool",
    "what must be word for word": r"letter for letter|word for word|exact",
}
SECTIONS = {
    "aider": ["first person", "own voice"],
    "codex": ["handover", "What is left", "Another model"],
    "opencode": ["Goal", "Instructions", "Discoveries", "Accomplished", "Relevant files"],
    "claude-code": ["<analysis>", "<summary>", *[f"\n{n}. " for n in range(1, 10)]],
    "gemini-cli": ["<state_snapshot>", "<overall_goal>", "<task_state>"],
    "gemini-cli-check": ["<state_snapshot>", "line by line"],
    "notes": ["`#`", "italic", "Current state", "Errors and corrections", "Key results"],
    "holdfast": ["ledger", "#12", "checked against the log"],
}


@pytest.mark.seed("004", 180, 184)
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", prompts())
def test_every_prompt_says_it(name: str, rule: str) -> None:
    assert re.search(RULES[rule], prompt(name)), rule


@pytest.mark.seed("000", 26)
@pytest.mark.seed("001", 63)
@pytest.mark.seed("004", 24, 156, 157, 158, 159, 160, 161, 162, 163, 164, 165, 166, 167)
@pytest.mark.parametrize("name", prompts())
def test_every_prompt_asks_for_what_its_system_asks_for(name: str) -> None:
    assert [words for words in SECTIONS[name] if words not in prompt(name)] == []


@pytest.mark.parametrize("name", ["aider", "codex", "opencode", "claude-code", "gemini-cli"])
def test_every_policy_uses_its_own(name: str) -> None:
    chosen = policy(name)
    rule = chosen.compact or chosen.summarise
    assert rule
    assert rule.prompt == name


@pytest.mark.seed("004", 168)
def test_the_prompt_of_claude_code_shows_the_shape_of_its_answer() -> None:
    text = prompt("claude-code")
    shape = text[text.index("<example>") : text.index("</example>")]
    assert shape.index("<analysis>") < shape.index("<summary>")
    assert all(f"\n{number}. " in shape for number in range(1, 10))
