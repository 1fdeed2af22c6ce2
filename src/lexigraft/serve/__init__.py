"""The server: search, explanations and vectors over HTTP, for the page, for programs and for assistants."""
