"""Writes a collection in BEIR layout, plain text, streaming."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from lexigraft.core.folders import make_folders
from lexigraft.core.types import Document, Qrel, Query


def write_collection(
    folder: Path,
    documents: Iterable[Document],
    queries: Iterable[Query] = (),
    qrels: Mapping[str, Iterable[Qrel]] | None = None,
) -> None:
    """Write `corpus.jsonl`, `queries.jsonl` and `qrels/SPLIT.tsv` under `folder`, which is made."""
    make_folders(folder / "qrels")
    with (folder / "corpus.jsonl").open("w", encoding="utf-8") as file:
        for document in documents:
            record = {"_id": document.doc_id, "title": document.title, "text": document.text}
            file.write(json.dumps(record, ensure_ascii=False) + "\n")
    with (folder / "queries.jsonl").open("w", encoding="utf-8") as file:
        for query in queries:
            file.write(json.dumps({"_id": query.query_id, "text": query.text}, ensure_ascii=False) + "\n")
    for split, judged in (qrels or {}).items():
        with (folder / "qrels" / f"{split}.tsv").open("w", encoding="utf-8") as file:
            file.write("query-id\tcorpus-id\tscore\n")
            file.writelines(f"{qrel.query_id}\t{qrel.doc_id}\t{qrel.relevance}\n" for qrel in judged)
