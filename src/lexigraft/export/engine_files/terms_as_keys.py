"""Terms as the keys of JSON objects, in engines that read a dot in a key as a path.

A term is its own key, but for a few characters, which are percent-encoded: the dot, the percent sign itself, control
characters, and white space at either end. No two terms have one key, and `term_of` gives a term back.
"""

from collections.abc import Sequence
from urllib.parse import quote, unquote

import regex

from lexigraft.export.engine_files.limits import require_terms

EMPTY = "%"  # the key of the empty term; in any other key a percent sign begins a code
_TO_ENCODE = regex.compile(r"[.%\p{Cc}]|^\s|\s$")


def key_of(term: str) -> str:
    """The key of a term."""
    return _TO_ENCODE.sub(_code, term) or EMPTY


def term_of(key: str) -> str:
    """The term of a key."""
    return "" if key == EMPTY else unquote(key)


def keys_of(engine: str, terms: Sequence[str]) -> list[str]:
    """The keys of a vocabulary, by term id; raises where an engine cannot hold one."""
    keys = [key_of(term) for term in terms]
    require_terms(engine, keys)
    return keys


def _code(found: "regex.Match[str]") -> str:
    return "%2E" if found[0] == "." else quote(found[0])
