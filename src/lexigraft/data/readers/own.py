"""Documents, queries and judgements out of users' files, of any format and with any field names."""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import chain, islice
from pathlib import Path
from typing import Any

from lexigraft.core.errors import InputError
from lexigraft.core.grades import checked_grade, wrong_grade
from lexigraft.core.types import Document, Qrel, Query
from lexigraft.data.fields import (
    DOCUMENT,
    ID,
    JUDGED_DOCUMENT,
    JUDGED_QUERY,
    JUDGEMENT,
    QUERY,
    QUERY_ID,
    QUERY_TEXT,
    RELEVANCE,
    TEXT,
    TITLE,
    Chosen,
    Named,
    Role,
    choose,
    listed,
)
from lexigraft.data.readers.documents import checked_id, whole_characters
from lexigraft.data.readers.formats import READERS
from lexigraft.data.readers.pages import PATH, page_records
from lexigraft.data.readers.records import Record, Records
from lexigraft.data.reading import FILES

NUMBERED = "; to number documents by their place instead: --fields id="
LOOKED_AT = 100  # records whose fields are those of the file: JSON leaves out what is empty

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class OwnFile:
    """How one user's file is read: its format (a reader of records, or pages), and the fields that the user names.
    `quiet`: what is guessed is not said."""

    format: str
    named: Named = field(default_factory=dict)
    quiet: bool = False

    def records(self, path: Path, on_bad_bytes: str = "error") -> Records:
        read = page_records if self.format == FILES else READERS[self.format]
        return read(path, on_bad_bytes)

    def opened(self, path: Path, roles: Sequence[Role], on_bad_bytes: str) -> tuple[Chosen, Records]:
        """The fields that play `roles`, and the records from the first on."""
        records = self.records(path, on_bad_bytes)
        first = list(islice(records, LOOKED_AT))
        present = list(dict.fromkeys(name for record in first for name in record.values))
        if not present:
            raise InputError(f"{path} has no records")
        # The path of a page is its id, whatever a front matter calls one.
        named = {ID: (PATH,), TITLE: (TITLE,), TEXT: (TEXT,)} if self.format == FILES else self.named
        chosen = choose(roles, named, present, path)
        if chosen.guessed and not self.quiet:
            _say(_guess_in_words(chosen, roles, path))
        return chosen, chain(first, records)

    def understood(self, path: Path, on_bad_bytes: str = "error") -> str:
        """The fields of documents as --fields takes them, named or guessed."""
        return "" if self.format == FILES else self.opened(path, DOCUMENT, on_bad_bytes)[0].option

    def __call__(self, path: Path, on_bad_bytes: str = "error") -> Iterator[tuple[Record, Document]]:
        """The documents: a reader of a corpus, as the functions of `documents` are."""
        return self.documents(path, on_bad_bytes)

    def documents(self, path: Path, on_bad_bytes: str = "error") -> Iterator[tuple[Record, Document]]:
        """The documents, each with its record."""
        chosen, records = self.opened(path, DOCUMENT, on_bad_bytes)
        id_field, title_field, text_fields = chosen.one(ID), chosen.one(TITLE), chosen.by_role[TEXT]
        needed = (*text_fields, *((title_field,) if title_field else ()))
        for place, record in enumerate(records, 1):
            values = record.values
            doc_id = identifier(record, id_field, NUMBERED) if id_field is not None else str(place)
            title = one_text(record, title_field) if title_field is not None else ""
            text = joined_text(record, text_fields)
            if not text and not title and not any(name in values for name in needed):
                raise InputError(
                    f"{record.where}: none of the fields {', '.join(needed)} is there; present: "
                    f"{', '.join(values) or 'nothing'}"
                )
            yield record, Document(doc_id, title, text)

    def queries(self, path: Path, on_bad_bytes: str = "error") -> Iterator[tuple[Record, Query]]:
        """The queries, each with its record."""
        chosen, records = self.opened(path, QUERY, on_bad_bytes)
        id_field, text_fields = chosen.one(QUERY_ID), chosen.by_role[QUERY_TEXT]
        for place, record in enumerate(records, 1):
            query_id = identifier(record, id_field) if id_field is not None else str(place)
            yield record, Query(query_id, joined_text(record, text_fields))

    def judgements(self, path: Path, on_bad_bytes: str = "error") -> Iterator[tuple[Record, Qrel]]:
        """The judgements; where no field says how relevant, all are 1."""
        chosen, records = self.opened(path, JUDGEMENT, on_bad_bytes)
        query, document, relevance = (chosen.one(key) for key in (JUDGED_QUERY, JUDGED_DOCUMENT, RELEVANCE))
        for record in records:
            grade = 1 if relevance is None else _whole(record, relevance)
            yield record, Qrel(identifier(record, query or ""), identifier(record, document or ""), grade)

    def metadata(self, path: Path, on_bad_bytes: str = "error") -> Iterator[tuple[str, dict[str, Any]]]:
        """By document, the fields that are neither id nor title nor text."""
        chosen, records = self.opened(path, DOCUMENT, on_bad_bytes)
        id_field, used = chosen.one(ID), {name for names in chosen.by_role.values() for name in names}
        for place, record in enumerate(records, 1):
            doc_id = identifier(record, id_field) if id_field is not None else str(place)
            yield doc_id, {key: value for key, value in record.values.items() if key not in used}


def identifier(record: Record, name: str, remedy: str = "") -> str:
    """A text or a whole number as an id; `remedy` ends the message where it is neither."""
    value = record.values.get(name)
    if isinstance(value, str):
        return checked_id(value, record.where)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, float) and value.is_integer():  # how a column of whole numbers with gaps is stored
        return str(int(value))
    problem = f"is neither text nor a whole number: {shortened(value)}" if value is not None else "has no value"
    raise InputError(f"{record.where}: the id in field {name!r} {problem}{remedy}")


def joined_text(record: Record, names: Sequence[str]) -> str:
    """Several fields as one text, each on lines of its own."""
    if len(names) == 1:
        return one_text(record, names[0])
    return "\n".join(text for text in (one_text(record, name) for name in names) if text)


def one_text(record: Record, name: str) -> str:
    """A field as text: a list of texts is joined, a number written out; what is absent is empty."""
    value = record.values.get(name)
    if isinstance(value, str):
        return whole_characters(value)
    if value is None or value != value:  # NaN is how some tables write that there is nothing
        return ""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return whole_characters("\n".join(value))
    raise InputError(
        f"{record.where}: field {name!r} is not text, but {type(value).__name__}: {shortened(value)}; name other "
        "fields with --fields"
    )


def _whole(record: Record, name: str) -> int:
    value = record.values.get(name)
    try:
        number = float("nan") if value is None or isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):  # OverflowError: hundreds of digits
        number = float("nan")
    said, after = f"{record.where}: the relevance", f" in field {name!r}"
    if not number.is_integer():
        raise wrong_grade(value, said, after)
    return checked_grade(int(number), said, after)


def shortened(value: object, most: int = 80) -> str:
    shown = repr(value)
    return shown if len(shown) <= most else f"{shown[:most]}..."


def _guess_in_words(chosen: Chosen, roles: Sequence[Role], path: Path) -> str:
    absent = {
        ID: "no id, so documents are numbered",
        QUERY_ID: "no id, so queries are numbered",
        RELEVANCE: "all are 1",
    }
    missing = [words for key, words in absent.items() if key in chosen.guessed and not chosen.by_role[key]]
    rest = f"; metadata: {listed(chosen.rest)}" if chosen.rest and roles is DOCUMENT else ""
    return f"{path}: {', '.join([chosen.words, *missing])}{rest} (guessed; --fields names others)"


@cache
def _say(message: str) -> None:
    """Once: a collection is read several times."""
    log.info(message)
