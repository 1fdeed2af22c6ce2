"""What OpenSearch and Elasticsearch have in common: a mapping, bulk files, and how both are sent with curl.

A row is a document whose `_id` is the row's id. `terms` are features of Lucene, `meta` is an object of typed fields.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lexigraft.engines.stored_values import name_of
from lexigraft.export.engine_files.bulk import Form, Parts, as_json, write_json_file
from lexigraft.export.engine_files.limits import require_id, require_request
from lexigraft.export.engine_files.query_bodies import HITS
from lexigraft.export.engine_files.stored_rows import StoredRow, StoredRows, values_in_iso
from lexigraft.export.engine_files.templates import filled
from lexigraft.index.metadata import DATE, NUMBER

INDEX, LOAD = "index.json", "load.sh"
BULK = Form("bulk", ".ndjson")
LONGEST_ID = 512  # bytes
LARGEST_REQUEST = 100 << 20  # bytes once decompressed, unless the server says otherwise (http.max_content_length)
LONGEST_KEYWORD = (
    8_191  # characters, of at most four bytes: longer ones are not indexed, or Lucene would refuse the row
)
USUAL_FIELDS = 1_000  # of a mapping, unless it says otherwise

_NUMBER: Mapping[str, Any] = {"type": "double"}
_DATE: Mapping[str, Any] = {"type": "date", "format": "strict_date_optional_time"}
_KEYWORD: Mapping[str, Any] = {"type": "keyword", "ignore_above": LONGEST_KEYWORD}


def write_index(folder: Path, rows: StoredRows, terms: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
    """The body that makes the index: settings, and a mapping in which `terms` is as given."""
    kinds = {NUMBER: _NUMBER, DATE: _DATE}
    meta = {name_of(key): dict(kinds.get(kind, _KEYWORD)) for key, kind in rows.kinds.items()}
    properties: dict[str, Any] = {"title": {"type": "text"}, "terms": dict(terms)}
    if rows.of_passages:
        properties["document"] = {"type": "keyword"}
    if rows.keeps_texts:
        properties["text"] = {"type": "text"}
    if meta:
        properties["meta"] = {"dynamic": "strict", "properties": meta}
    of_index = dict(settings)
    if (n_fields := len(meta) + len(properties)) > USUAL_FIELDS:
        of_index["mapping.total_fields.limit"] = n_fields
    body: dict[str, Any] = {"settings": {"index": of_index}} if of_index else {}
    write_json_file(folder / INDEX, {**body, "mappings": {"dynamic": "strict", "properties": properties}})


def write_bulk(engine: str, folder: Path, rows: StoredRows, keys: Sequence[str]) -> Parts:
    """All rows as bulk requests, in parts; `keys` name the features, by term id."""
    kinds = rows.kinds
    with Parts(folder, BULK) as parts:
        for row in rows:
            require_id(engine, row.row_id, LONGEST_ID)
            if row.document is not None:
                require_id(engine, row.document, LONGEST_ID)
            lines = as_json({"index": {"_id": row.row_id}}) + b"\n" + as_json(_source_of(row, keys, kinds))
            require_request(engine, row.row_id, BULK.alone(lines), LARGEST_REQUEST)
            parts.append(lines)
    return parts


def _source_of(row: StoredRow, keys: Sequence[str], kinds: Mapping[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = dict(row.shown)
    if terms := {keys[term]: impact for term, impact in row.terms.items()}:
        found["terms"] = terms
    if meta := values_in_iso(row, kinds):
        found["meta"] = meta
    return found


def search_body(query: Mapping[str, Any], of_passages: bool) -> dict[str, Any]:
    """A search. Of passages, the best one of each document stands for it."""
    fold = {"collapse": {"field": "document"}} if of_passages else {}
    shown = ["title", "document"] if of_passages else ["title"]
    return {"size": HITS, "_source": shown, "query": dict(query), **fold}


def write_load(folder: Path, name: str) -> None:
    """The commands that load everything; each stops at the first refusal."""
    (folder / LOAD).write_text(LOAD_SCRIPT.replace("NAME", name), encoding="utf-8")


LOAD_SCRIPT = """\
#!/bin/sh
# Makes the index, and loads all rows. SERVER and what curl needs to sign in come from outside, for example
#   SERVER=https://localhost:9200 CURL_OPTIONS="--user admin:PASSWORD --insecure" sh load.sh
set -eu
cd "$(dirname "$0")"
SERVER="${SERVER:-http://localhost:9200}"
CURL="curl --silent --show-error --fail-with-body ${CURL_OPTIONS:-}"
$CURL -X PUT "$SERVER/NAME" -H 'Content-Type: application/json' --data-binary @index.json
for part in bulk-*.ndjson.gz; do
  answer="$($CURL -X POST "$SERVER/NAME/_bulk?filter_path=errors,items.*.error" \\
    -H 'Content-Type: application/x-ndjson' -H 'Content-Encoding: gzip' --data-binary "@$part")"
  case "$answer" in
    *'"errors":false'*) echo "$part is loaded" ;;
    *) echo "$part: $answer" >&2; exit 1 ;;
  esac
done
$CURL -X POST "$SERVER/NAME/_refresh"
"""

USE = """\
Load everything (`SERVER` is `http://localhost:9200` where it is not given; `CURL_OPTIONS` are passed on to curl):

```sh
SERVER=https://localhost:9200 CURL_OPTIONS="--user USER:PASSWORD" sh load.sh
```

Ask the first query of `queries.jsonl`, which `--queries` writes:

```sh
head -n 1 queries.jsonl | python3 -c 'import json, sys; print(json.dumps(json.load(sys.stdin)["body"]))' |
  curl -X POST "$SERVER/NAME/_search" -H 'Content-Type: application/json' --data-binary @-
```

A body of your own, for terms and weights that the exported model gives to a query:

```json
BODY
```

`index.json` is the index's settings and mapping; `bulk-*.ndjson.gz` are its rows, of 8 MB at most each before they \
are compressed. A term is the key of a feature. Where it has a dot, a percent sign or a control character, or begins \
or ends with white space, that character is percent-encoded (`node.js` is `node%2Ejs`). Metadata are filtered by, for \
example, `{"term": {"meta.KEY": VALUE}}`; a text of more than 8,191 characters is kept, and not found by a filter. \
Dates are compared to the millisecond.

No server was run to test these files: there is none to be had where Lexigraft is built. They are checked against the \
types that the engine's own clients publish, and scored by a program that rounds as Lucene does.
"""


def use_of(name: str, body: Mapping[str, Any]) -> str:
    """The README's part on how the files are used."""
    example = re.sub(r"\s*\n\s*", " ", as_json(body).decode())
    return filled(USE, {"NAME": name, "BODY": example})
