"""A complete agent with LangChain: Holdfast keeps its history, and makes it fit."""

import subprocess
import sys

from langchain.agents import create_agent
from langchain_anthropic import ChatAnthropic
from langchain_core.language_models import BaseChatModel
from langchain_core.tools import tool

import holdfast
from holdfast.frameworks.langchain import HoldfastMiddleware


@tool
def shell(command: str) -> str:
    """Run a command and see what it prints."""
    done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=60)
    return f"{done.stdout}{done.stderr}[exit {done.returncode}]"


def main(task: str, store: str, model: BaseChatModel, resume: str = "") -> str:
    with holdfast.open(store) as hf:
        s = hf.session(resume) if resume else hf.session(model="claude-sonnet-4-6")
        agent = create_agent(
            model,
            [shell],  # recall and search_history come with the middleware
            system_prompt="Be brief.",
            middleware=[HoldfastMiddleware(s)],
        )
        done = agent.invoke({"messages": [{"role": "user", "content": task}]})
        print(f"[session {s.id}, ${s.cost:.4f} so far]", file=sys.stderr)
        return done["messages"][-1].text


if __name__ == "__main__":  # a task, and the session it goes on with
    if len(sys.argv) < 2:
        sys.exit(f"What is to be done? Use: python {sys.argv[0]} TASK [SESSION]")
    chosen = ChatAnthropic(model_name="claude-sonnet-4-6", timeout=None, stop=None)
    print(main(sys.argv[1], "agent.db", chosen, *sys.argv[2:3]))
