"""Documents of the same text are one: no system can tell them apart, so as several they only hide each other."""

import hashlib
from collections.abc import Iterable, Mapping

from lexigraft.core.types import Document, Qrel


def find_twins(documents: Iterable[Document]) -> dict[str, str]:
    """For each document whose title and text another had before it, the id of the first that had them."""
    first: dict[bytes, str] = {}
    twins: dict[str, str] = {}
    for document in documents:
        text = f"{document.title}\0{document.text}".encode("utf-8", "replace")
        known = first.setdefault(hashlib.blake2b(text, digest_size=16).digest(), document.doc_id)
        if known != document.doc_id:
            twins[document.doc_id] = known
    return twins


def judge_first(qrels: Iterable[Qrel], twins: Mapping[str, str]) -> list[Qrel]:
    """The judgements of the documents that are left; of several of one query and document the highest counts."""
    found: dict[tuple[str, str], Qrel] = {}
    for qrel in qrels:
        key = qrel.query_id, twins.get(qrel.doc_id, qrel.doc_id)
        if key not in found or qrel.relevance > found[key].relevance:
            found[key] = Qrel(*key, qrel.relevance)
    return list(found.values())
