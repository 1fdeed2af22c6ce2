"""Docstrings of Python source files, read with `ast` and never imported: the raw material of `pydocs`.

A docstring is cut into its summary (the first sentence) and its body (the rest); the qualified name is split into words
so that `OrderedDict.move_to_end` can be found by "ordered dict move to end".
"""

import ast
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

Definition = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef

# A first paragraph such as "arange(start, stop) -> array" is a signature, not a sentence.
_SIGNATURE = re.compile(r"^[\w.]+\(.*\)(\s*(->|=|:).*)?$", re.DOTALL)
# "Title" over "~~~~~", which repeats the name of the thing.
_HEADING = re.compile(r"^[^\n]+\n[~=\-*^\"#]{3,}$")
# A docstring that begins with its arguments has no summary.
_SECTION = re.compile(
    r"^(args|arguments|parameters|params|returns?|yields?|raises|attributes|examples?|notes?)\s*:", re.IGNORECASE
)
# A sentence ends at . ! ? before a space and a capital, a digit or an opening mark; "e.g." and "i.e." end none.
_SENTENCE_END = re.compile(r"(?<![eE]\.g)(?<![iI]\.e)(?<!vs)(?<!cf)[.!?](?=\s+[^a-z\s])")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


class DocumentedObject(NamedTuple):
    """One documented module, class or function: `summary` may be empty, `package` is its top-level name."""

    qualified_name: str
    package: str
    summary: str
    body: str


def split_docstring(docstring: str) -> tuple[str, str]:
    """(first sentence on one line, everything after it); signatures and headings before it are left out.

    The summary is empty where the docstring has none: it is blank or begins with a section such as "Args:".
    """
    paragraphs = re.split(r"\n\s*\n", docstring.strip())
    while len(paragraphs) > 1 and (_SIGNATURE.match(paragraphs[0].strip()) or _HEADING.match(paragraphs[0].strip())):
        paragraphs.pop(0)
    if _SECTION.match(paragraphs[0]):
        return "", docstring.strip()
    first = " ".join(paragraphs[0].split())
    end = _SENTENCE_END.search(first)
    summary, rest = (first[: end.end()], first[end.end() :].strip()) if end else (first, "")
    body = "\n\n".join(part for part in (rest, *paragraphs[1:]) if part)
    return summary, body


def name_words(qualified_name: str) -> str:
    """`collections.OrderedDict.move_to_end` as "collections Ordered Dict move to end"."""
    return " ".join(word for part in re.split(r"[._]+", qualified_name) for word in _CAMEL.sub(" ", part).split())


def documented_objects(source: Path, module: str) -> list[DocumentedObject]:
    """Every public object with a docstring in one file, in source order; [] where the file does not parse."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # other people's invalid escapes are not our user's concern
            tree = ast.parse(source.read_bytes())
    except (SyntaxError, ValueError, RecursionError, OSError):
        return []
    return list(_walk(tree, module, module.partition(".")[0]))


def _walk(node: Definition, name: str, package: str) -> Iterator[DocumentedObject]:
    docstring = ast.get_docstring(node)
    if docstring:
        yield DocumentedObject(name, package, *split_docstring(_printable(docstring)))
    if isinstance(node, ast.Module | ast.ClassDef):  # what a function defines inside itself is not an API
        for child in _definitions(node.body):
            if not child.name.startswith("_"):
                yield from _walk(child, f"{name}.{child.name}", package)


def _definitions(body: list[ast.stmt]) -> Iterator[ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef]:
    """Definitions in `body`, those under `if` and `try` included (platform and version switches)."""
    for statement in body:
        if isinstance(statement, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield statement
        elif isinstance(statement, ast.If):
            yield from _definitions(statement.body + statement.orelse)
        elif isinstance(statement, ast.Try):
            handlers = [inner for handler in statement.handlers for inner in handler.body]
            yield from _definitions(statement.body + handlers + statement.orelse)


def _printable(text: str) -> str:
    """Without lone surrogates and NULs, which no UTF-8 file can hold or should."""
    return text.encode("utf-8", "ignore").decode().replace("\0", "")
