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
_NESTED = re.compile(r"[ \t]*[^\s#].*?:(?:[ \t].*)?")  # a key within an object
_OBJECT = re.compile(r"""\{.*\}|[^\s"'\[].*?:(?:[ \t].*)?""")
_BLOCK = re.compile(r"[|>][-+0-9]*")  # a text of several lines follows, further in
_ELEMENT = re.compile(r"""[ \t]*("[^"]*"|'[^']*'|[^,]+)[ \t]*(?:,|$)""")
# A comment begins with the value, or after a space; a # within quotation marks or brackets is none.
_COMMENTED = re.compile(r"""^("[^"]*"|'[^']*'|\[[^\]]*\]|.*?)(?:(?:^|[ \t]+)#.*)?$""")


def split_front_matter(text: str) -> tuple[dict[str, Value], str]:
    """(what a front matter says, the text after it)."""
    front = _FRONT.match(text)
    return (dict(_entries(front.group(1) or "")), text[front.end() :]) if front else ({}, text)


def _entries(front: str) -> Iterator[tuple[str, Value]]:
    """`key` is the one below which items may follow, empty where what follows is passed over."""
    key, items, in_block = "", list[str](), False
    for line in [*front.splitlines(), "end:"]:
        is_indented = line[:1] in (" ", "\t")
        if not line.strip() or line.lstrip().startswith("#") or (in_block and is_indented):
            continue
        in_block = False
        if item := _ITEM.fullmatch(line):
            said = _without_comment(item[1])
            in_block = _BLOCK.fullmatch(said) is not None
            if in_block or _OBJECT.fullmatch(said):
                key, items = "", []
            elif key:
                items.append(_plain(said))
        elif is_indented:
            if _NESTED.fullmatch(line):
                key, items = "", []
        else:
            if items:
                yield key, items
            entry, items = _ENTRY.fullmatch(line), []
            key, said = (entry[1], _without_comment(entry[2] or "")) if entry else ("", "")
            in_block = _BLOCK.fullmatch(said) is not None
            if key and said:
                if not in_block and not (said.startswith("{") and said.endswith("}")):
                    yield key, _list(said) if said.startswith("[") and said.endswith("]") else _plain(said)
                key = ""


def _without_comment(said: str) -> str:
    return _COMMENTED.sub(r"\1", said)


def _list(said: str) -> list[str]:
    """The elements between brackets; a comma within quotation marks is none."""
    return [element for found in _ELEMENT.finditer(said[1:-1]) if (element := _plain(found[1]))]


def _plain(said: str) -> str:
    said = said.strip()
    return said[1:-1] if len(said) > 1 and said[0] == said[-1] and said[0] in "\"'" else said
