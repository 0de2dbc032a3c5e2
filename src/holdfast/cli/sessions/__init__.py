"""Commands that list, show, search and manage sessions."""
