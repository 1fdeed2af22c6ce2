"""What stands between two lines `---` at the beginning of a Markdown file: `key: value`, and lists.

A list is written in brackets, `tags: [spring, "red, white"]`, or below its key, one `- spring` a line. That is the part
of YAML that pages are labelled with; whatever else is there (objects, texts of several lines) is passed over.
"""

import re
from collections.abc import Iterator

Value = str | list[str]

_FRONT = re.compile(r"---[ \t]*\n(.*?\n)?(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_ENTRY = re.compile(r"(\w[\w-]*):(?:[ \t]+(.*?))?[ \t]*")
_ITEM = re.compile(r"[ \t]*-[ \t]+(.*?)[ \t]*")
_ELEMENT = re.compile(r"""[ \t]*("[^"]*"|'[^']*'|[^,]+)[ \t]*(?:,|$)""")
_COMMENT = re.compile(r"""[ \t]+#[^"'\]]*$""")


def split_front_matter(text: str) -> tuple[dict[str, Value], str]:
    """(what a front matter says, the text after it)."""
    front = _FRONT.match(text)
    return (dict(_entries(front.group(1) or "")), text[front.end() :]) if front else ({}, text)


def _entries(front: str) -> Iterator[tuple[str, Value]]:
    key, items = "", list[str]()
    for line in [*front.splitlines(), "end:"]:
        if key and (item := _ITEM.fullmatch(line)):
            items.append(_plain(item[1]))
            continue
        if not (entry := _ENTRY.fullmatch(line)):
            continue
        if items:
            yield key, items
        key, items = entry[1], []
        said = _COMMENT.sub("", entry[2] or "")
        if said and said not in ("|", ">", "|-", ">-"):
            yield key, _list(said) if said.startswith("[") and said.endswith("]") else _plain(said)
            key = ""


def _list(said: str) -> list[str]:
    """The elements between brackets; a comma within quotation marks is none."""
    return [element for found in _ELEMENT.finditer(said[1:-1]) if (element := _plain(found[1]))]


def _plain(said: str) -> str:
    said = said.strip()
    return said[1:-1] if len(said) > 1 and said[0] == said[-1] and said[0] in "\"'" else said
