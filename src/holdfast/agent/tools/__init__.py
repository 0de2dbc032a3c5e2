"""The tools of the agent: files, shell, search, subtasks."""
