"""Ids as TREC files hold them: white space, which would end a field, is percent-encoded, and so is a % that would be
read as such a code. No two ids are written alike, and reading gives back what was written.

Other programs, and former versions of this one, write an id such as `a%20b` as it stands. Whoever looks an id of a file
up among known ones does it by `known_as`, which takes that for the id where no other is meant.
"""

import re
from collections.abc import Container
from urllib.parse import quote, unquote

_SPACES = [chr(code) for code in range(0x3001) if chr(code).isspace()]
_CODES = "|".join(quote(char)[1:] for char in _SPACES)  # without the first %
_TO_ENCODE = re.compile(rf"\s|%(?=25|{_CODES})")
_ENCODED = re.compile(rf"%(?:25|{_CODES})")


def trec_id(identifier: str) -> str:
    """An id as it is written."""
    if "%" not in identifier and identifier.split() == [identifier]:
        return identifier
    return _TO_ENCODE.sub(lambda found: quote(found[0]), identifier)


def id_of_trec(name: str) -> str:
    """The id that was written as `name`."""
    return _ENCODED.sub(lambda found: unquote(found[0]), name) if "%" in name else name


def known_as(identifier: str, known: Container[str]) -> str:
    """The id among `known` that an id read from a file stands for: itself, or the same written or read once more. What
    is none of them stays as it is."""
    if identifier in known:
        return identifier
    return next((other for other in (trec_id(identifier), id_of_trec(identifier)) if other in known), identifier)


def as_others_write(identifiers: set[str]) -> set[str]:
    """All ids that `known_as` could find for some ids of a file, before it is known which of them there are."""
    return identifiers | {form for one in identifiers if "%" in one or one.split() != [one]
                          for form in (trec_id(one), id_of_trec(one))}  # fmt: skip
