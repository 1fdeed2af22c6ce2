"""What engines cannot hold, said by name before a file is written: nothing is folded, cut or rounded in silence."""

from collections.abc import Sequence

import regex

from lexigraft.core.errors import InputError, SettingError
from lexigraft.index.inverted import Index

EXACT_SUM = 1 << 24  # 32-bit floats hold every whole number up to here
LUCENE_TERM = 32_766  # bytes of a term that Lucene indexes
LUCENE_BITS = 8  # of impacts: a feature of Lucene keeps 9 significant bits
SHOWN = 60  # characters of a value that an error repeats

_OF_LUCENE = (r"[a-z0-9][a-z0-9._-]{0,254}", "small letters, digits, '_', '-' and '.', 255 at most, no sign first")
_NAMES = {
    "Qdrant": (r"[A-Za-z0-9][A-Za-z0-9._-]{0,254}", "letters, digits, '_', '-' and '.', 255 at most, no sign first"),
    "Milvus": (r"[A-Za-z_][A-Za-z0-9_]{0,254}", "letters, digits and '_', not a digit first, 255 at most"),
    "PostgreSQL": (r"[A-Za-z_][A-Za-z0-9_]{0,62}", "letters, digits and '_', not a digit first, 63 at most"),
    "OpenSearch": _OF_LUCENE,
    "Elasticsearch": _OF_LUCENE,
    "Vespa": (r"[A-Za-z][A-Za-z0-9_]{0,62}", "letters, digits and '_', a letter first, 63 at most"),
}


def require_name(engine: str, name: str) -> None:
    """Raise where an engine takes no collection, index, table or schema of this name."""
    pattern, allowed = _NAMES[engine]
    if regex.fullmatch(pattern, name) is None:
        raise SettingError(f"{name!r} cannot be a name in {engine}: {allowed}; give another one (--name)")


def require_lucene_bits(engine: str, index: Index) -> None:
    """Raise where impacts have more bits than a feature of Lucene keeps."""
    if index.meta.bits > LUCENE_BITS:
        raise InputError(
            f"the index has weights of {index.meta.bits} bits, and {engine} keeps 9 significant bits of one: it would "
            f"round them; export an index of {LUCENE_BITS} bits (index.bits)"
        )


def require_dimensions(engine: str, n_terms: int, most: int) -> None:
    """Raise where the vocabulary is larger than a vector of the engine may be."""
    if n_terms > most:
        raise InputError(
            f"the vocabulary has {n_terms:,} terms, and a sparse vector of {engine} {most:,} at most; use a smaller "
            "vocabulary"
        )


def require_terms_of_row(engine: str, row_id: str, n_terms: int, most: int) -> None:
    """Raise where a row has more terms than one of the engine holds."""
    if n_terms > most:
        raise InputError(
            f"{shown(row_id)} has {n_terms:,} terms, and a row of {engine} {most:,} at most; keep fewer of each "
            "document (--dk)"
        )


def require_request(engine: str, row_id: str, n_bytes: int, most: int) -> None:
    """Raise where a row alone is a larger request than the engine takes."""
    if n_bytes > most:
        raise InputError(
            f"{shown(row_id)} has {n_bytes:,} bytes as a request, and {engine} takes {most:,} at most; cut the "
            "document into passages (data.passage_words), or make an index that keeps no texts"
        )


def require_id(engine: str, row_id: str, most_bytes: int, forbidden: "regex.Pattern[str] | None" = None) -> None:
    """Raise for an id that an engine cannot hold as it is."""
    size = len(row_id.encode("utf-8", "replace"))
    if not 0 < size <= most_bytes:
        raise InputError(
            f"the id {shown(row_id)} has {size:,} bytes, and an id of {engine} has 1 to {most_bytes:,}; give the "
            "documents other ids"
        )
    if forbidden is not None and (found := forbidden.search(row_id)) is not None:
        raise InputError(
            f"the id {shown(row_id)} has the character U+{ord(found[0]):04X}, which {engine} does not take in an id; "
            "give the documents other ids"
        )


def require_terms(engine: str, terms: Sequence[str], most_bytes: int = LUCENE_TERM) -> None:
    """Raise where a term cannot be the name of a feature, or two could not be told apart."""
    for term in terms:
        if len(term) * 4 > most_bytes and len(term.encode()) > most_bytes:
            raise InputError(
                f"the term {shown(term)} has {len(term.encode()):,} bytes, and a feature's name in {engine} "
                f"{most_bytes:,} at most; use a vocabulary without it"
            )
    if len(set(terms)) < len(terms):
        twice = next(term for place, term in enumerate(terms) if terms.index(term) < place)
        raise InputError(f"the term {shown(twice)} is in the vocabulary twice, and {engine} knows terms by their names")


def shown(text: str) -> str:
    """A value in an error, short."""
    return repr(text if len(text) <= SHOWN else f"{text[:SHOWN]}...")


def precision_of(index: Index) -> tuple[list[str], list[str]]:
    """What is kept and lost of scores by an engine that adds up in 32-bit floats."""
    if index.meta.bits <= LUCENE_BITS:
        return [f"weights, and scores up to {EXACT_SUM:,}, exactly"], []
    return (
        ["weights, exactly: 32-bit floats hold whole numbers of 24 bits"],
        [
            f"the last bits of scores above {EXACT_SUM:,}: the engine adds up in 32-bit floats, and the index has "
            f"weights of {index.meta.bits} bits, so documents with nearly equal scores may change places"
        ],
    )
