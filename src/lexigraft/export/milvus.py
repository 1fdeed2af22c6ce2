"""Milvus: a collection's schema and rows as JSON, as its client, its REST interface and its bulk import take them."""

from pathlib import Path
from typing import Any

from lexigraft.core.errors import InputError
from lexigraft.core.progress import Progress
from lexigraft.export.engine_files.bulk import Form, Parts, as_json, write_json_file, write_vocabulary
from lexigraft.export.engine_files.limits import precision_of, require_dimensions, require_id, require_name, shown
from lexigraft.export.engine_files.loaders import MILVUS, loader
from lexigraft.export.engine_files.query_bodies import HITS, Weights, lost_queries, write_queries
from lexigraft.export.engine_files.stored_rows import StoredRow, StoredRows, odd_names, values_in_numbers
from lexigraft.export.source import Source
from lexigraft.export.targets import Exported, Wanted

ENGINE = "Milvus"
ROWS = Form("rows", ".json", b"[\n", b",\n", b"\n]\n")
MOST_TERMS = (1 << 32) - 2  # numbers of terms are below 2^32 - 1, and rows without terms need one more
LONGEST_TEXT = 65_535  # bytes of a text
LONGEST_META = 65_536  # bytes of a JSON value
EXACT = {"inverted_index_algo": "DAAT_MAXSCORE"}


def write(wanted: Wanted, folder: Path, progress: Progress) -> Exported:
    """The collection's description, its rows, a program that loads them, and searches."""
    require_name(ENGINE, wanted.name)
    source = Source.open(wanted.path, wanted.system, wanted.qk, wanted.dk)
    require_dimensions(ENGINE, source.index.n_terms, MOST_TERMS)
    rows = StoredRows(source, "writing rows", progress)
    write_json_file(folder / "collection.json", _collection(wanted.name, rows))
    write_vocabulary(folder, source.terms)
    writer = _RowWriter(rows)
    parts = writer.write(folder)
    (folder / "load.py").write_text(loader(MILVUS, wanted.name), encoding="utf-8")
    asked = write_queries(wanted, source, folder, lambda one: _body(wanted.name, one, rows.of_passages))
    exact, inexact = precision_of(source.index)
    return Exported(
        f"A collection for Milvus ({parts.n_parts} files of rows)",
        [*rows.kept(), *exact, *writer.said_of_empty_rows()],
        [*inexact, *writer.lost(), *odd_names(rows.kinds), *lost_queries(asked)],
        USE.replace("NAME", wanted.name),
        {"index": source.index.fingerprint},
        {**rows.facts(), "cut_texts": writer.n_cut, "parts": parts.n_parts, "bytes": parts.n_bytes, **asked},
    )


def _collection(name: str, rows: StoredRows) -> dict[str, Any]:
    """As POST /v2/vectordb/collections/create takes it."""
    texts = ["title", *["document"] * rows.of_passages, *["text"] * rows.keeps_texts]
    longest = {"max_length": LONGEST_TEXT}
    fields: list[dict[str, Any]] = [
        {"fieldName": "id", "dataType": "VarChar", "isPrimary": True, "elementTypeParams": longest},
        *({"fieldName": text, "dataType": "VarChar", "elementTypeParams": longest} for text in texts),
        {"fieldName": "terms", "dataType": "SparseFloatVector"},
        {"fieldName": "meta", "dataType": "JSON"},
    ]
    index = {"fieldName": "terms", "indexName": "terms", "metricType": "IP", "indexType": "SPARSE_INVERTED_INDEX"}
    return {
        "collectionName": name,
        "schema": {"autoId": False, "enableDynamicField": False, "fields": fields},
        "indexParams": [{**index, "params": EXACT}],
    }


class _RowWriter:
    """Rows, with what had to be cut of them."""

    def __init__(self, rows: StoredRows) -> None:
        self._rows, self._kinds, self._n_terms = rows, rows.kinds, rows.source.index.n_terms
        self.n_cut = 0

    def write(self, folder: Path) -> Parts:
        with Parts(folder, ROWS) as parts:
            for row in self._rows:
                parts.append(as_json(self._entity(row)))
        return parts

    def _entity(self, row: StoredRow) -> dict[str, Any]:
        require_id(ENGINE, row.row_id, LONGEST_TEXT)
        meta = values_in_numbers(row, self._kinds)
        if (size := len(as_json(meta))) > LONGEST_META:
            raise InputError(
                f"the metadata of {shown(row.row_id)} have {size:,} bytes, and a JSON value of Milvus {LONGEST_META:,} "
                "at most; leave some out (lexigraft index metadata --replace)"
            )
        texts = {name: self._fitting(text) for name, text in row.shown.items()}
        terms = {str(term): impact for term, impact in row.terms.items()} or {str(self._n_terms): 1}
        return {"id": row.row_id, **texts, "terms": terms, "meta": meta}

    def _fitting(self, text: str) -> str:
        if len(text) * 4 <= LONGEST_TEXT or len(data := text.encode("utf-8", "replace")) <= LONGEST_TEXT:
            return text
        self.n_cut += 1
        return data[:LONGEST_TEXT].decode(errors="ignore")

    def said_of_empty_rows(self) -> list[str]:
        n_empty = self._rows.n_empty
        term = f"{self._n_terms:,}"
        return [f"{n_empty:,} rows without terms: they have the term {term}, which no query has"] if n_empty else []

    def lost(self) -> list[str]:
        cut = f"what is beyond {LONGEST_TEXT:,} bytes of {self.n_cut:,} titles or texts"
        return ["the order of documents with equal scores", *[cut] * bool(self.n_cut)]


def _body(name: str, weights: Weights, of_passages: bool) -> dict[str, Any]:
    """As POST /v2/vectordb/entities/search takes it."""
    fields = ["title", "document"] if of_passages else ["title"]
    found: dict[str, Any] = {
        "collectionName": name, "annsField": "terms", "limit": HITS, "outputFields": fields,
        "data": [{str(term): weight for term, weight in weights.items()}],
        "searchParams": {"metricType": "IP", "params": {"drop_ratio_search": 0.0}},
    }  # fmt: skip
    return {**found, "groupingField": "document"} if of_passages else found


USE = """\
Load everything with pymilvus (`pip install pymilvus`; for a file of this machine `milvus-lite`, too):

```sh
python load.py http://localhost:19530
python load.py ./milvus.db
```

`load.py` makes the collection NAME as `collection.json` says, which is also the body of \
`POST /v2/vectordb/collections/create`. A server imports the files itself once they are decompressed and lie in its \
object storage: `gunzip rows-*.json.gz`, then `bulk_import` of `pymilvus.bulk_writer`.

Ask the first query of `queries.jsonl`, which `--queries` writes:

```sh
head -n 1 queries.jsonl | python3 -c 'import json, sys; print(json.dumps(json.load(sys.stdin)["body"]))' |
  curl -X POST http://localhost:19530/v2/vectordb/entities/search -H 'Content-Type: application/json' --data-binary @-
```

With pymilvus, for a query of your own:

```python
query = {17: 3.0, 99: 1.0}  # numbers of terms: lines of vocabulary.jsonl, from 0
client.search("NAME", [query], anns_field="terms", limit=10, output_fields=["title"],
              search_params={"metric_type": "IP", "params": {"drop_ratio_search": 0.0}})
```

`meta` is filtered by, for example, `meta["KEY"] > 2000`. Dates are microseconds from 1970 on.
"""
