"""The table of commands: where each is, and what it does in one line.

Listing them imports none of them.
"""

from __future__ import annotations

COMMANDS = {
    "chat": (
        "chat.chat:chat",
        "Talk to a model in this directory; it may use tools, and nothing said is ever lost.",
    ),
    "run": (
        "chat.run:run",
        "Have the agent do one task in this directory; what is not allowed is denied.",
    ),
    "sessions": ("sessions.list:sessions", "List sessions, the one that changed last first."),
    "show": ("sessions.show:show", "Show the window of a session: what its markers leave visible."),
    "search": (
        "sessions.search:search",
        "Find what was said: every word of QUERY, in any session.",
    ),
    "import": (
        "transcripts.import_:import_command",
        "Import the transcripts of other programs: files, directories, or the usual places.",
    ),
    "context": (
        "context.context:context",
        "Show what fills the window, as a picture and as a table.",
    ),
    "explain": (
        "context.context:explain",
        "Say for each block of a call where it is from, what it took, and which rule kept it.",
    ),
    "count": ("usage.count:count", "Count the tokens of FILE, or of what is piped in with `-`."),
    "map": (
        "usage.repo_map:map_command",
        "Print a map of the repository in PATH: its files, and what in them is referred to most.",
    ),
    "cost": ("usage.cost:cost", "What every call has cost, those beside the turns included."),
    "stats": (
        "usage.stats:stats",
        "What sessions took, how full their windows were, what filled them, what was read again.",
    ),
    "status-line": (
        "usage.cost:status_line",
        "The state of a session's window as JSON, for scripts that draw a status line.",
    ),
    "models": (
        "usage.models:models",
        "Show what a model holds, costs and can do; without NAME, list those there is a key for.",
    ),
    "ledger": ("sessions.ledger:ledger", "Show what the log says exactly, by sections."),
    "compact": ("context.compact:compact", "Let a summary stand for what was said so far."),
    "rewind": (
        "workspace.rewind:rewind",
        "Go back to before PROMPT, a number of the list that is shown without one.",
    ),
    "diff": (
        "workspace.diff:diff",
        "Show what the agent did to the files, all of it or from one prompt to another.",
    ),
    "checkpoint": (
        "workspace.checkpoints:checkpoint",
        "Record what changed in a directory since the last checkpoint: for hooks of other agents.",
    ),
    "checkpoints": (
        "workspace.checkpoints:checkpoints",
        "Show how much is kept of what files held, of one session or of all.",
    ),
    "undo": ("context.undo:undo", "Take back the newest compaction or rewind, or that of MARKER."),
    "redo": (
        "context.undo:redo",
        "Do again what was undone last, or MARKER: a number alone is one of the last session.",
    ),
    "recall": ("sessions.recall:recall", "Bring back what left the window, word for word."),
    "pin": ("context.pins:pin", "Keep an entry, a fact or a file in every window."),
    "unpin": ("context.pins:unpin", "Let a pin go."),
    "memory": (
        "memory.memory:memory",
        "See, change, approve and take back notes that outlive a session.",
    ),
    "policy": ("context.policy:policy", "List policies, show one, or give a session one."),
    "fork": ("sessions.manage:fork", "Begin a session that shares another one up to an entry."),
    "rename": ("sessions.manage:rename", "Give a session another title."),
    "archive": (
        "sessions.manage:archive",
        "Put a session away; nothing is deleted, --undo brings it back.",
    ),
    "erase": (
        "sessions.erase:erase",
        "Erase a session for good, its subtasks too; its forks keep what they share with it.",
    ),
    "instructions": (
        "knowledge.instructions:instructions",
        "List the instruction files and skills for work in PATH: which act, how large, and why.",
    ),
    "trust": (
        "knowledge.trust:trust",
        "Show what a project's instruction files and skills say, and approve it.",
    ),
    "export": ("transcripts.export:export", "Write a session in another form."),
    "handoff": ("transcripts.handoff:handoff", "Let another program go on with a session."),
    "doctor": (
        "store.doctor:doctor",
        "Examine a store: its file, the log of each session, blobs and search index.",
    ),
    "demo": (
        "store.demo:demo",
        "Play a recorded task in the chat: tools, a compaction, a recall and an undo.",
    ),
    "completion": ("completion:completion", "Print the completion script of a shell."),
    "help": ("help:help_command", "List the commands, or show what one takes."),
}
"""Where each command is and its one-line help, in the order people meet them.

A command is imported when it is called; listing them imports none.
"""
