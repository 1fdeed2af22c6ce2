"""The part of a text that shows best why it was found."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from lexigraft.retrieve.matched_words import MatchedWord
from lexigraft.vocab.words import places_of_words

WIDTH = 240  # characters of a snippet: three lines of a terminal
MARGIN = 256  # characters on both sides by which the words at a place are told: more than all but freak words have
_BEGINS, _ENDS = re.compile(r"(?<!\S)\S"), re.compile(r"\S(?!\S)")

Span = tuple[int, int]


class Snippet(NamedTuple):
    """`text` lies from `start` to `end` in the text it was cut from; `spans` are the words in it that matched, from
    character to character of the snippet."""

    text: str
    start: int
    end: int
    spans: tuple[Span, ...]


def cut_snippet(text: str, words: Sequence[MatchedWord], points: Mapping[int, int], width: int = WIDTH) -> Snippet:
    """At most `width` characters of `text` around those of `words`, which matched in it, that are worth most together.
    A term is worth its `points`, once, however often it is there; of equal windows the one that ends first is taken.
    The cut is made between words, at white space where there is some. Without a match it is the beginning, from the
    first character that is no space."""
    if not words:
        start = len(text) - len(text.lstrip())
        end = _last_end(text, start, min(len(text), start + width))
    else:
        first, last = best_window(words, points, width)
        start, end = _around(text, (words[first].start, words[last].end), width)
    inside = (word for word in words if start <= word.start < end)
    spans = tuple((word.start - start, min(word.end, end) - start) for word in inside)
    return Snippet(text[start:end], start, end, spans)


def best_window(words: Sequence[MatchedWord], points: Mapping[int, int], width: int) -> tuple[int, int]:
    """The first and the last of the `words` that are worth most among those that lie within `width` characters; a
    single word may be longer. One pass: the window is moved on by its last word, and loses words at its beginning."""
    held: dict[int, int] = {}  # how often each term is in the window
    best, worth, first, chosen = -1, 0, 0, (0, 0)
    for last, word in enumerate(words):
        for term in word.terms:
            worth += 0 if held.get(term) else points.get(term, 0)
            held[term] = held.get(term, 0) + 1
        while word.end - words[first].start > width and first < last:
            for term in words[first].terms:
                held[term] -= 1
                worth -= 0 if held[term] else points.get(term, 0)
            first += 1
        if worth > best:
            best, chosen = worth, (first, last)
    return chosen


def _around(text: str, shown: Span, width: int) -> Span:
    """`shown` with as much of the text on both sides as there is room for; a word longer than `width` is cut."""
    start, end = shown
    if end - start >= width:
        return start, start + width
    low = max(0, start - (width - (end - start)) // 2)
    high = min(len(text), low + width)
    low = max(0, high - width)
    return _first_start(text, low, start), _last_end(text, end, high)


def _first_start(text: str, low: int, start: int) -> int:
    """The first place from `low` to `start` where text begins after white space or, where there is none, a word."""
    if (found := _BEGINS.search(text, low, start + 1)) is not None:
        return found.start()
    return next((at for at, _ in _words_around(text, low, start) if low <= at <= start), start)


def _last_end(text: str, end: int, high: int) -> int:
    """The last place from `end` to `high` where text ends before white space or, where there is none, a word; `high`
    where there is neither."""
    stops = [found.end() for found in _ENDS.finditer(text, max(0, end - 1), high + 1)]
    if fitting := [stop for stop in stops if end <= stop <= high]:
        return fitting[-1]
    words = [stop for _, stop in _words_around(text, end, high) if end <= stop <= high]
    return words[-1] if words else high


def _words_around(text: str, low: int, high: int) -> list[Span]:
    """The words from one place to another, by a stretch of the text that goes `MARGIN` characters further on both
    sides: a text without white space is not cut as a whole for a few of its words."""
    start = max(0, low - MARGIN)
    return [(start + at, start + stop) for at, stop in places_of_words(text[start : high + MARGIN])]
