"""An answer on the terminal: rank, score and title of each document, what it says where the index keeps that, and the
terms that matched."""

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.text import Text

from lexigraft.cli.console import out as screen
from lexigraft.cli.display import on_one_line

if TYPE_CHECKING:
    from lexigraft.retrieve.answer import FoundDocument
    from lexigraft.retrieve.plain_document import PlainDocument

SHOWN_TERMS = 8  # of those that matched, the ones that add most
INDENT = 15  # below the id: rank and score stand before it


def print_documents(hits: "Iterable[FoundDocument | PlainDocument]", whole: bool) -> None:
    """Documents in order, with a part of each text or, with `whole`, all of it."""
    for hit in hits:
        screen.print(f"{hit.rank:>3}  {hit.score:8.3f}  ", end="")
        screen.print(on_one_line(hit.doc_id), style="bold cyan", soft_wrap=True)
        if hit.title:
            screen.print(_indented(marked(hit.title, hit.title_spans)), soft_wrap=True)
        if hit.text and whole:
            for line in _lines(hit.text, hit.text_spans):
                screen.print(_indented(line), soft_wrap=True)
        elif hit.text and (snippet := hit.snippet) is not None:
            shown = marked(snippet.text, snippet.spans)
            before, after = snippet.start > 0, snippet.end < len(hit.text.rstrip())
            _print_snippet(Text("… " if before else "") + shown + Text(" …" if after else ""))
        if hit.matches:  # a dense score has no terms
            screen.print(f"{' ' * INDENT}matched: {_terms(hit)}", style="dim", soft_wrap=True)


def marked(text: str, spans: Sequence[tuple[int, int]]) -> Text:
    """A text on one line, with bold words; what a terminal would obey or cannot show is left out."""
    shown, at = Text(), 0
    for start, end in spans:
        shown.append(_printable(text[at:start]))
        shown.append(_printable(text[start:end]), style="bold")
        at = end
    shown.append(_printable(text[at:]))
    return shown


def _printable(text: str) -> str:
    return re.sub(r"\s+", " ", "".join(character if character.isprintable() else " " for character in text))


def _lines(text: str, spans: Sequence[tuple[int, int]]) -> Iterable[Text]:
    """The lines of a text, each with its bold words."""
    start, left = 0, list(reversed(spans))
    for line in text.splitlines(keepends=True):
        end, inside = start + len(line), list[tuple[int, int]]()
        while left and left[-1][1] <= end:
            first, last = left.pop()
            inside.append((first - start, last - start))
        yield marked(line.rstrip(), inside)
        start = end


def _print_snippet(shown: Text) -> None:
    """Wrapped on a terminal; into a file or pipe nothing is."""
    if screen.is_terminal:
        screen.print(Padding(shown, (0, 0, 0, INDENT)))
    else:
        screen.print(_indented(shown), soft_wrap=True)


def _indented(shown: Text) -> Text:
    return Text(" " * INDENT) + shown


def _terms(hit: "FoundDocument | PlainDocument") -> str:
    matched = [match.term for match in hit.matches]
    more = f" … and {len(matched) - SHOWN_TERMS} more" if len(matched) > SHOWN_TERMS else ""
    return on_one_line(" ".join(matched[:SHOWN_TERMS])) + more


def print_for_judging(question: str, place: str, hit: "FoundDocument", whole: bool) -> None:
    """A document whose answer to a question is to be judged. Nothing is marked: words that match are one system's."""
    screen.print()
    screen.print(on_one_line(f"{question}   [{place}]"), style="bold cyan", soft_wrap=True)
    screen.print(marked(hit.title or hit.doc_id, ()), style="bold", soft_wrap=True)
    if whole:
        for line in _lines(hit.text or "", ()):
            screen.print(line, soft_wrap=True)
    elif hit.text and (snippet := hit.snippet) is not None:
        before, after = snippet.start > 0, snippet.end < len(hit.text.rstrip())
        shown = Text("… " if before else "") + marked(snippet.text, ()) + Text(" …" if after else "")
        screen.print(shown, soft_wrap=not screen.is_terminal)
