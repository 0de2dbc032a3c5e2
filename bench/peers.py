"""Other libraries that keep conversations, each used as its own documentation says."""

# pyright: reportMissingImports=false
# The peers are installed by `make bench` alone.

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Coroutine, Iterable
from datetime import timedelta
from pathlib import Path
from typing import Any, ClassVar

from bench.contenders import BATCH, Folder, batches
from bench.corpus import Said

PACKAGES = (
    "openai-agents", "langgraph", "langgraph-checkpoint-sqlite", "langchain-community",
    "langchain-core", "google-adk", "sqlalchemy",
)  # fmt: skip


class Looped(Folder):
    """A library that must be awaited, with an event loop that stays open between calls."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.loop = asyncio.new_event_loop()

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self.loop.run_until_complete(work)


class AgentsSession(Looped):
    """OpenAI Agents SDK: SQLiteSession."""

    def open(self) -> None:
        from agents import SQLiteSession

        self.session = SQLiteSession("session", self.folder / "sessions.db")

    def seed(self, messages: Iterable[Said]) -> None:
        for batch in batches(messages, BATCH):
            self.run(self.session.add_items([self.item(said) for said in batch]))

    def item(self, said: Said) -> Any:
        if said.role == "tool":
            return {"type": "function_call_output", "call_id": "call", "output": said.text}
        return {"role": said.role, "content": said.text}

    def turn(self, question: str, answer: str) -> None:
        self.run(self.both(question, answer))

    async def both(self, question: str, answer: str) -> None:
        await self.session.add_items([{"role": "user", "content": question}])
        await self.session.add_items([{"role": "assistant", "content": answer}])

    def count(self) -> int:
        return rows_in(self.folder / "sessions.db", "agent_messages")

    def close(self) -> None:
        self.session.close()


class LangChainHistory(Folder):
    """LangChain: SQLChatMessageHistory."""

    def open(self) -> None:
        from langchain_community.chat_message_histories import SQLChatMessageHistory

        url = f"sqlite:///{self.folder / 'history.db'}"
        self.history = SQLChatMessageHistory("session", connection=url)

    def seed(self, messages: Iterable[Said]) -> None:
        for batch in batches(messages, BATCH):
            self.history.add_messages([chat_message(said) for said in batch])

    def turn(self, question: str, answer: str) -> None:
        self.history.add_user_message(question)
        self.history.add_ai_message(answer)

    def count(self) -> int:
        return rows_in(self.folder / "history.db", "message_store")

    def close(self) -> None:
        self.history.engine.dispose()


class LangGraphSaver(Folder):
    """LangGraph: SqliteSaver under a graph of one node; a turn is one invoke."""

    answer = ""
    config: ClassVar[Any] = {"configurable": {"thread_id": "session"}}

    def open(self) -> None:
        from langgraph.checkpoint.sqlite import SqliteSaver
        from langgraph.graph import START, MessagesState, StateGraph

        path = self.folder / "checkpoints.db"
        self.connection = sqlite3.connect(path, check_same_thread=False)
        graph = StateGraph(MessagesState)
        graph.add_node("model", self.reply)
        graph.add_edge(START, "model")
        self.graph = graph.compile(checkpointer=SqliteSaver(self.connection))

    def reply(self, state: Any) -> Any:
        return {"messages": [chat_message(Said("assistant", self.answer))]}

    def seed(self, messages: Iterable[Said]) -> None:
        """In one write: turn by turn the file grows with the square of the length."""
        every = [chat_message(said) for said in messages]
        self.graph.update_state(self.config, {"messages": every}, as_node="model")

    def turn(self, question: str, answer: str) -> None:
        self.answer = answer
        self.graph.invoke({"messages": [chat_message(Said("user", question))]}, self.config)

    def count(self) -> int:
        return len(self.graph.get_state(self.config).values["messages"])

    def close(self) -> None:
        self.connection.close()


class AdkService(Looped):
    """google-adk: DatabaseSessionService."""

    name: ClassVar[Any] = {"app_name": "app", "user_id": "user", "session_id": "session"}

    @property
    def path(self) -> Path:
        return self.folder / "sessions.db"

    def open(self) -> None:
        from google.adk.sessions import DatabaseSessionService
        from google.adk.sessions.base_session_service import GetSessionConfig

        fresh = not self.path.exists()
        self.service = DatabaseSessionService(f"sqlite+aiosqlite:///{self.path}")
        if fresh:
            self.run(self.service.create_session(**self.name))
        newest = GetSessionConfig(num_recent_events=1)
        self.session = self.run(self.service.get_session(**self.name, config=newest))

    def seed(self, messages: Iterable[Said]) -> None:
        """One event through the library, then copies of its row: it takes minutes otherwise."""
        source = iter(messages)
        self.run(self.add(next(source)))
        with sqlite3.connect(self.path) as connection:
            found = connection.execute("SELECT * FROM events")
            names = [column[0] for column in found.description]
            pattern = dict(zip(names, found.fetchone(), strict=True))
            marks = ", ".join(f":{name}" for name in names)
            rows = (copied(pattern, said, number) for number, said in enumerate(source))
            connection.executemany(
                f"INSERT INTO events ({', '.join(names)}) VALUES ({marks})", rows
            )
        connection.close()

    async def add(self, said: Said) -> None:
        from google.adk.events import Event
        from google.genai.types import Content, Part

        role = "user" if said.role == "user" else "model"
        content = Content(role=role, parts=[Part(text=said.text)])
        event = Event(author=role, invocation_id="turn", content=content)
        await self.service.append_event(self.session, event)

    def turn(self, question: str, answer: str) -> None:
        self.run(self.both(question, answer))

    async def both(self, question: str, answer: str) -> None:
        await self.add(Said("user", question))
        await self.add(Said("assistant", answer))

    def count(self) -> int:
        return rows_in(self.path, "events")

    def close(self) -> None:
        self.run(self.service.close())


def copied(pattern: dict[str, Any], said: Said, number: int) -> dict[str, Any]:
    """A row like the pattern with other words; earlier, so that the newest stays the newest."""
    from uuid import uuid4

    data = json.loads(pattern["event_data"])
    role = "user" if said.role == "user" else "model"
    id = str(uuid4())
    data |= {"id": id, "author": role, "content": {"parts": [{"text": said.text}], "role": role}}
    return {
        **pattern,
        "id": id,
        "event_data": json.dumps(data),
        "timestamp": earlier(pattern, number),
    }


def earlier(pattern: dict[str, Any], number: int) -> str:
    from datetime import datetime

    last = datetime.fromisoformat(pattern["timestamp"])
    return (last - timedelta(days=1) + timedelta(milliseconds=number)).isoformat(" ")


def chat_message(said: Said) -> Any:
    """A message as LangChain and LangGraph keep it."""
    from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

    if said.role == "tool":
        return ToolMessage(said.text, tool_call_id="call")
    return (HumanMessage if said.role == "user" else AIMessage)(said.text)


def rows_in(path: Path, table: str) -> int:
    """How many rows a table has, asked of the file."""
    connection = sqlite3.connect(path)
    try:
        return connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
    finally:
        connection.close()
