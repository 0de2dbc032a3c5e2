"""A complete agent with the anthropic SDK: Holdfast keeps the history and makes it fit."""

import subprocess
import sys
from typing import Any

import anthropic

import holdfast

SHELL = {
    "name": "shell",
    "description": "Run a command and see what it prints.",
    "input_schema": {
        "type": "object",
        "properties": {"command": {"type": "string"}},
        "required": ["command"],
    },
}


def run(call: holdfast.ToolCall) -> str:
    command = call.fields.get("command")
    if call.name != "shell" or not isinstance(command, str):
        return f"There is no tool {call.name} that takes this; there is shell, with a command."
    done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=60)
    return f"{done.stdout}{done.stderr}[exit {done.returncode}]"


def main(task: str, store: str, client: anthropic.Anthropic, resume: str = "") -> str:
    def summarise(question: holdfast.Question) -> Any:
        return client.messages.create(**question.request("anthropic"))

    with holdfast.open(store) as hf:
        model = "" if resume else "claude-sonnet-4-6"
        s = hf.session(resume, model=model, summariser=summarise)
        s.user(task)
        while True:
            window = s.window(system="Be brief.", tools=[SHELL, *holdfast.recall_tools()])
            reply = s.reply(client.messages.create(**window.request("anthropic")))
            if not reply.calls:
                print(f"[session {s.id}, ${s.cost:.4f} so far]", file=sys.stderr)
                return reply.text
            for call in reply.calls:
                known = s.run_context_tool(call)  # recall and search_history answer themselves
                output = known.output if known else run(call)
                s.tool_result(call.id, output, name=call.name)


if __name__ == "__main__":  # a task, and the session it goes on with
    if len(sys.argv) < 2:
        sys.exit(f"What is to be done? Use: python {sys.argv[0]} TASK [SESSION]")
    print(main(sys.argv[1], "agent.db", anthropic.Anthropic(), *sys.argv[2:3]))
