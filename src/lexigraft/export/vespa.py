"""Vespa: an application package, a feed, and queries.

Terms are a weighted set of numbers. Texts would be folded by case before they are compared, and so would terms; numbers
are not, and need no escaping in labels of tensors. `dotProduct` finds the rows that share a term and adds up exactly.
"""

from pathlib import Path
from typing import Any

import regex

from lexigraft.core.errors import InputError
from lexigraft.core.progress import Progress
from lexigraft.export.engine_files.bulk import Form, Parts, as_json, write_vocabulary
from lexigraft.export.engine_files.limits import require_dimensions, require_id, require_name
from lexigraft.export.engine_files.query_bodies import HITS, Weights, lost_queries, write_queries
from lexigraft.export.engine_files.stored_rows import StoredRow, StoredRows, odd_names, values_in_numbers
from lexigraft.export.engine_files.vespa_package import SHOWN_AS, meta_field, write_package
from lexigraft.export.source import Source
from lexigraft.export.targets import Exported, Wanted

ENGINE = "Vespa"
FEED = Form("feed", ".jsonl")
MOST_TERMS = 1 << 31  # numbers of terms are 32-bit integers with a sign
LONGEST_ID = 60_000  # bytes of the user's part; Vespa's limit of 65,536 is of the whole id
# What no text of Vespa may hold: control characters but tab and line ends, halves of pairs, and what is no character.
NO_TEXT = regex.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufdd0-\ufddf"
    + "".join(f"{chr(plane + 0xFFFE)}{chr(plane + 0xFFFF)}" for plane in range(0x10000, 0x110000, 0x10000))
    + "]"
)


def write(wanted: Wanted, folder: Path, progress: Progress) -> Exported:
    """The application package, the feed, and query bodies."""
    require_name(ENGINE, wanted.name)
    source = Source.open(wanted.path, wanted.system, wanted.qk, wanted.dk)
    require_dimensions(ENGINE, source.index.n_terms, MOST_TERMS)
    rows = StoredRows(source, "writing the feed", progress)
    write_package(folder / "application", wanted.name, rows)
    write_vocabulary(folder, source.terms)
    writer = _FeedWriter(rows, wanted.name)
    parts = writer.write(folder)
    asked = write_queries(wanted, source, folder, lambda one: _body(wanted.name, one, rows.of_passages))
    return Exported(
        f"An application for Vespa ({parts.n_parts} feed files)",
        [*rows.kept(), "weights and scores, exactly: both are whole numbers"],
        ["the order of documents with equal scores", *writer.lost(), *odd_names(rows.kinds), *lost_queries(asked)],
        USE.replace("NAME", wanted.name),
        {"index": source.index.fingerprint},
        {**rows.facts(), "replaced_texts": writer.n_replaced, "parts": parts.n_parts, "bytes": parts.n_bytes, **asked},
    )


class _FeedWriter:
    """Rows as operations of a feed, with what had to be replaced in them."""

    def __init__(self, rows: StoredRows, name: str) -> None:
        self._rows, self._kinds, self._name = rows, rows.kinds, name
        self.n_replaced = 0

    def write(self, folder: Path) -> Parts:
        with Parts(folder, FEED) as parts:
            for row in self._rows:
                parts.append(as_json(self._put(row)))
        return parts

    def _put(self, row: StoredRow) -> dict[str, Any]:
        require_id(ENGINE, row.row_id, LONGEST_ID, NO_TEXT)
        fields: dict[str, Any] = {"row_id": row.row_id}
        fields.update({SHOWN_AS.get(name, name): self._text(text) for name, text in row.shown.items()})
        if terms := {str(term): impact for term, impact in row.terms.items()}:
            fields["terms"] = terms
        for name, value in values_in_numbers(row, self._kinds).items():
            fields[meta_field(name)] = self._value(value)
        return {"put": f"id:{self._name}:{self._name}::{row.row_id}", "fields": fields}

    def _value(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._text(one) for one in value]
        return self._text(value) if isinstance(value, str) else value

    def _text(self, text: str) -> str:
        replaced, n_found = NO_TEXT.subn("\ufffd", text)
        self.n_replaced += bool(n_found)
        return str(replaced)

    def lost(self) -> list[str]:
        said = f"characters that no text of Vespa holds, in {self.n_replaced:,} values: U+FFFD is in their place"
        return [said] if self.n_replaced else []


def _body(name: str, weights: Weights, of_passages: bool) -> dict[str, Any]:
    """As POST /search/ takes it. Of passages, the best one of each document stands for it."""
    if any(weight >= 1 << 31 for weight in weights.values()):
        raise InputError("a weight of a query is above 2,147,483,647, which Vespa takes at most")
    terms = as_json({str(term): weight for term, weight in weights.items()}).decode()
    yql = f"select * from {name} where dotProduct(terms, @terms)"
    body = {"terms": terms, "ranking": "impacts", "presentation.summary": "shown"}
    if not of_passages:
        return {"yql": yql, "hits": HITS, **body}
    best = f"group({SHOWN_AS['document']}) max({HITS}) order(-max(relevance()))"
    shown = "each(max(1) output(max(relevance())) each(output(summary(shown))))"
    return {"yql": f"{yql} | all({best} {shown})", "hits": 0, **body}


USE = """\
Deploy the application and feed all rows (the [Vespa CLI](https://docs.vespa.ai/en/vespa-cli.html)):

```sh
vespa deploy --wait 300 application
for part in feed-*.jsonl.gz; do gunzip -c "$part" | vespa feed -; done
```

Ask the first query of `queries.jsonl`, which `--queries` writes:

```sh
head -n 1 queries.jsonl | python3 -c 'import json, sys; print(json.dumps(json.load(sys.stdin)["body"]))' |
  curl -X POST http://localhost:8080/search/ -H 'Content-Type: application/json' --data-binary @-
```

`application/` is the application package: its schema `NAME` has the rank profile `impacts`, whose score is the sum of \
products, and `tensors`, the same from a query tensor `input.query(q)`, to be part of further ranking. A row's terms \
are a weighted set of numbers: lines of `vocabulary.jsonl`, from 0. `wand` in the place of `dotProduct` skips rows \
that cannot be among the best. Metadata are fields `meta_KEY`, dates microseconds from 1970 on; Vespa compares texts \
in filters without regard to case.

No server was run to test these files: there is none to be had where Lexigraft is built. They are checked against the \
documented forms and what Vespa's own client writes, and scored by a program that adds up as Vespa does.
"""
