"""camelCase: where the words of an identifier begin, and whether texts are code, in which it is one.

`parseHTTPResponse` is parse, HTTP and Response: a word begins at a capital after a small letter, and at a capital that
small letters follow after another capital. Digits stay with the letters they follow (`utf8Decode`, `HTTP2Server`), and
the plural of an abbreviation is one word (`URLs`). In prose the same letters are names: YouTube, McDonald, PostgreSQL.
"""

import re
from collections.abc import Iterable
from itertools import islice

import regex

MARK = "_"  # which separates words already
_BEGINS = regex.compile(
    r"(?<=\p{Ll}\p{Nd}*)(?=\p{Lu})"
    r"|(?<=\p{Lu}\p{Nd}*)(?=\p{Lu}\p{Ll})(?!\p{Lu}s(?!\p{Ll}))"
)
_INSIDE = re.compile("[0-9A-Za-z][A-Z]")  # without which no word begins inside another, in ASCII

# Texts are code where at least this share of their words look like identifiers. Collections that were looked at: prose
# 0 to .7 % (abstracts, package descriptions, manuals of commands), docstrings of Python packages 2 to 4 %, functions
# with comments 12 %.
CODE_SHARE = 0.015
FEWEST_IDENTIFIERS = 3  # distinct ones: a single product name in a few short texts decides nothing
SAMPLED_DOCUMENTS, SAMPLED_CHARACTERS = 4096, 2000
_WORD = re.compile(r"\w+")
_IDENTIFIER = re.compile(
    r"\b[A-Za-z0-9]+(?:_[A-Za-z0-9]+)+\b"  # snake_case
    r"|\b[a-z]+[0-9]*(?:[A-Z][a-z0-9]*)+\b"  # camelCase; what begins with a capital may be anybody's name
    r"|\b\w+(?=\()"  # a call
)


def mark_words(text: str) -> str:
    """`text`, whose capitals are still there, with a separator where a word begins within an identifier."""
    if text.isascii() and _INSIDE.search(text) is None:
        return text
    marked: str = _BEGINS.sub(MARK, text)
    return marked


def is_code(texts: Iterable[str]) -> bool:
    """Whether texts are code: of the words at the beginning of the first 4096 of them, 1.5 % or more are snake_case,
    camelCase or followed by an opening bracket, three different ones at least."""
    n_words, n_identifiers, distinct = 0, 0, set[str]()
    for text in islice(texts, SAMPLED_DOCUMENTS):
        beginning = text[:SAMPLED_CHARACTERS]
        n_words += len(_WORD.findall(beginning))
        identifiers = _IDENTIFIER.findall(beginning)
        n_identifiers += len(identifiers)
        distinct.update(identifiers)
    return len(distinct) >= FEWEST_IDENTIFIERS and n_identifiers >= CODE_SHARE * n_words
