"""A complete agent with the OpenAI Agents SDK: Holdfast is its session, and makes it fit."""

import asyncio
import subprocess
import sys

from agents import Agent, ModelSettings, OpenAIResponsesModel, RunConfig, Runner, function_tool
from openai import AsyncOpenAI

import holdfast
from holdfast.frameworks.agents_sdk import HoldfastSession

MODEL = "gpt-5"


@function_tool
def shell(command: str) -> str:
    """Run a command and see what it prints."""
    done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=60)
    return f"{done.stdout}{done.stderr}[exit {done.returncode}]"


async def main(task: str, store: str, client: AsyncOpenAI, resume: str = "") -> str:
    with holdfast.open(store) as hf:
        s = hf.session(resume) if resume else hf.session(model=MODEL)
        session = HoldfastSession(s)
        agent = Agent(
            name="shell",
            instructions="Be brief.",
            model=OpenAIResponsesModel(MODEL, client),
            model_settings=ModelSettings(
                store=False, response_include=["reasoning.encrypted_content"]
            ),
            tools=[shell, *session.tools()],  # recall and search_history among them
        )
        config = RunConfig(
            call_model_input_filter=session.fit,  # fitted before every call
            tool_not_found_behavior="return_error_to_model",
        )
        done = await Runner.run(agent, task, session=session, run_config=config)
        print(f"[session {s.id}, ${s.cost:.4f} so far]", file=sys.stderr)
        return done.final_output


if __name__ == "__main__":  # a task, and the session it goes on with
    if len(sys.argv) < 2:
        sys.exit(f"What is to be done? Use: python {sys.argv[0]} TASK [SESSION]")
    print(asyncio.run(main(sys.argv[1], "agent.db", AsyncOpenAI(), *sys.argv[2:3])))
