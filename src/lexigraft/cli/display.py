"""Characters that a terminal would obey, written so that they can be seen: ids, titles and paths are somebody's data.

An escape sequence in an id could otherwise move the cursor, rename the window or hide lines; a bidi override turns
around what stands beside it; a line separator makes two lines of one. What is shown is `\\x1b`, `\\u202e` and the like.
JSON has its own way to write them, and files keep them as they are.
"""

import re
from collections.abc import Iterable
from typing import Any

from rich.console import Console
from rich.segment import Segment

_BIDI = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_LINES = "\u2028\u2029"
_NOT_TEXT = "\x7f-\x9f\ud800-\udfff\ufeff\ufff9-\ufffb"
_OBEYED = re.compile(f"[\0-\x08\x0b-\x1f{_NOT_TEXT}{_LINES}{_BIDI}]")
_OBEYED_OR_LINE_END = re.compile(f"[\0-\x1f{_NOT_TEXT}{_LINES}{_BIDI}]")
_BEYOND_JSON = re.compile(f"[{_NOT_TEXT}{_LINES}{_BIDI}]")  # JSON escapes the others by itself


def displayed(text: str) -> str:
    """The text without any character that a terminal obeys; line ends and tabs stay."""
    return _OBEYED.sub(_written, text)


def on_one_line(text: str) -> str:
    """The same on one line, whatever it holds."""
    return _OBEYED_OR_LINE_END.sub(_written, text)


def in_json(text: str) -> str:
    """JSON that reads as before, and of which a terminal obeys nothing."""
    return _BEYOND_JSON.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def _written(found: re.Match[str]) -> str:
    return {"\n": "\\n", "\t": "\\t", "\r": "\\r"}.get(found.group()) or (
        f"\\x{ord(found.group()):02x}" if ord(found.group()) < 256 else f"\\u{ord(found.group()):04x}"
    )


class SafeConsole(Console):
    """A console of which nothing that is printed is obeyed; what the console itself says to a terminal still is."""

    def render_str(self, text: str, **options: Any) -> Any:
        return super().render_str(displayed(text), **options)  # before rich drops some of them without a word

    def render(self, renderable: Any, options: Any = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            if segment.control or not _OBEYED.search(segment.text):
                yield segment
            else:
                yield Segment(displayed(segment.text), segment.style)
