"""What looks like an operator of other search engines in a query. None has a meaning here yet: all of it is read as
plain words, and who wrote it should know."""

import re

# A quotation mark that opens a phrase stands where a word may begin, and one that closes it where one may end.
_PHRASE = re.compile(r'(?<![^\s+\-:])["“„]\s*\w[^"“”„]*["”“](?!\w)')
_LEFT_OUT = re.compile(r'(?<!\S)-(?=[^\W\d_]|["“„])')  # no list, no number below zero
_FIELD = re.compile(r'[+-]?[^\W\d]\w*:["“„]?\w')
_NO_FIELD = re.compile(r"[/\\@]|:.*:", re.DOTALL)  # addresses, paths, `std::sort`


def operators_in(query: str) -> list[str]:
    """How the operators in a query are called, each kind once."""
    found = {
        "quotes": _PHRASE.search(query),
        '"-word"': _LEFT_OUT.search(query),
        '"field:word"': any(_FIELD.match(token) and not _NO_FIELD.search(token) for token in query.split()),
    }
    return [name for name, is_there in found.items() if is_there]


def said_of_operators(query: str) -> str:
    """That the operators of a query mean nothing, as a line; empty where it has none."""
    names = operators_in(query)
    if not names:
        return ""
    listed = " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
    have = "has" if len(names) == 1 and names[0] != "quotes" else "have"
    return f"{listed} {have} no meaning here yet: read as plain words"
