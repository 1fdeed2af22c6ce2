"""The snippets of a Markdown document, and how one is run."""

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

FENCE = re.compile(r"^```(?P<language>\w+)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
PROGRAM = re.compile(r"^(\.venv/bin/)?lexigraft$")


class Snippet(NamedTuple):
    """Fenced code: `line` is where it begins."""

    language: str
    body: str
    line: int


def snippets_of(document: Path) -> list[Snippet]:
    """The Python and console snippets of a document, in order."""
    text = document.read_text()
    found = [Snippet(m["language"], m["body"], text.count("\n", 0, m.start()) + 2) for m in FENCE.finditer(text)]
    return [snippet for snippet in found if snippet.language in ("python", "console")]


def commands_of(body: str) -> list[list[str]]:
    """The commands of a console snippet, as lists of words: lines after `$`, continued after a backslash; comments are
    left out."""
    lines = body.replace("\\\n", " ").splitlines()
    return [shlex.split(line[1:], comments=True) for line in lines if line.startswith("$")]


def outputs_of(body: str) -> list[tuple[list[str], list[str]]]:
    """The commands of a console snippet, each with the lines that it is said to print, without the white space around
    them."""
    parts = re.split(r"^\$", body.replace("\\\n", " "), flags=re.MULTILINE)[1:]
    return [
        (shlex.split(command, comments=True), [line.strip() for line in said if line.strip()])
        for command, *said in (part.splitlines() for part in parts)
    ]


def run_python(snippet: Snippet, document: Path, names: dict) -> None:
    """Execute Python with the names of the snippets before; errors show the document's own line."""
    code = compile("\n" * (snippet.line - 1) + snippet.body, str(document), "exec")
    exec(code, names)


def run_console(snippet: Snippet, lexigraft: Callable) -> None:
    """Call every `lexigraft` of a snippet; `make` is left out, and anything else is an error."""
    for program, *words in commands_of(snippet.body):
        if program == "make":
            continue
        assert PROGRAM.match(program), f"line {snippet.line}: a snippet calls {program}, which no test can run"
        output = lexigraft(*words)
        assert output.status == 0, (words, output.stderr)
