"""A complete agent with pydantic-ai: Holdfast keeps its history, and makes it fit."""

import asyncio
import subprocess
import sys

from pydantic_ai import Agent
from pydantic_ai.models import Model, infer_model

import holdfast
from holdfast.frameworks.pydantic_ai import HoldfastHistory


def shell(command: str) -> str:
    """Run a command and see what it prints."""
    done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=60)
    return f"{done.stdout}{done.stderr}[exit {done.returncode}]"


async def main(task: str, store: str, model: Model, resume: str = "") -> str:
    with holdfast.open(store) as hf:
        s = hf.session(resume) if resume else hf.session(model=model.model_name)
        agent = Agent(
            model,
            instructions="Be brief.",
            tools=[shell],  # recall and search_history come with the capability
            capabilities=[HoldfastHistory(s)],
        )
        done = await agent.run(task)
        print(f"[session {s.id}, ${s.cost:.4f} so far]", file=sys.stderr)
        return done.output


if __name__ == "__main__":  # a task, and the session it goes on with
    if len(sys.argv) < 2:
        sys.exit(f"What is to be done? Use: python {sys.argv[0]} TASK [SESSION]")
    chosen = infer_model("anthropic:claude-sonnet-4-6")
    print(asyncio.run(main(sys.argv[1], "agent.db", chosen, *sys.argv[2:3])))
