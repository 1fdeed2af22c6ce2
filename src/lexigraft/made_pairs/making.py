"""A collection of made pairs out of a collection of texts: streamed, bounded in memory, decided by the seed alone.

The texts are read three times: to count them, to count their words and find near-copies, and to make the pairs. Of a
large collection, 100,000 documents are taken, evenly from all of it. Some documents are held out: their queries do not
train, but choose settings (dev) and, where nothing is judged, are measured (test). What learns from none of the pairs
is chosen by more queries (cut-out): by all that do not stand in their documents, whether or not others train by them.
"""

import hashlib
import posixpath
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.types import Document, Qrel, Query
from lexigraft.data.collection import EVALUATION_SPLITS, Collection
from lexigraft.data.write import write_collection
from lexigraft.made_pairs.drops import (
    MEASURED,
    MIXED,
    MOST_DOCUMENTS,
    NEAR_COPY,
    TOO_MANY,
    query_key,
    why_trivial,
)  # fmt: skip
from lexigraft.made_pairs.near_copies import NearCopies
from lexigraft.made_pairs.of_document import LEFT_OUT, LINK, MadeQuery, made_of
from lexigraft.made_pairs.told import MadeCounts
from lexigraft.made_pairs.words_of_queries import WordUse, split_words

TRAIN, DEV, TEST, CUT_OUT = "train", "dev", "test", "cut-out"
MOST_DOCUMENTS_READ, MOST_PAIRS = 100_000, 100_000
DEV_SHARE, TEST_SHARE, UNMEASURED_SHARE = 0.15, 0.1, 0.01  # of the documents
MOST_HELD_OUT = 600  # documents of a split
MOST_CUT_OUT = 1_000  # queries: more tell systems apart that differ by less than anybody would see
MANY_GIVEN = 5_000  # training pairs: who has so many needs no made ones
PREFIX = "made:"


@dataclass
class _Asked:
    """A query as it grows: the documents that it was made of."""

    kind: str
    text: str
    doc_ids: list[str] = field(default_factory=list)


class PairMaker:
    """Makes the pairs of one collection. `given`: its own training pairs that are used, too; `split`: the one that is
    measured, beside test and dev; "auto" names no other."""

    def __init__(
        self,
        collection: Collection,
        seed: int,
        given: Sequence[Qrel] = (),
        split: str = "auto",
        progress: Progress = SILENT,
    ) -> None:
        self.collection, self.seed, self.progress = collection, seed, progress
        self.counts = MadeCounts(given=len(given))
        measured = measured_queries(collection, split)
        self.measured = {query_key(query.text) for query in collection.queries() if query.query_id in measured}
        self.given_pairs = list(given)
        self.given_documents = {qrel.doc_id for qrel in given}
        self.titles: Counter[str] = Counter()  # how many documents have each
        self.every = 1  # of the documents, every so many-th is taken
        self.asked: dict[str, _Asked] = {}  # by the words of the query
        self.held_out: dict[str, str] = {}  # by document: the split that it is held out for
        self.judged: dict[str, list[Qrel]] = {TRAIN: [], DEV: [], TEST: [], CUT_OUT: []}

    def write(self, folder: Path) -> MadeCounts:
        """Write the collection of made pairs into `folder`, which is made; raises where they are too few."""
        self.counts.documents = sum(1 for _ in self.collection.documents())
        self.every = -(-self.counts.documents // MOST_DOCUMENTS_READ) or 1
        use, copies = self._look()
        documents = self._documents(use, copies)
        qrels = {split: self._judgements(split) for split in self.judged}
        write_collection(folder, documents, self._queries(), qrels)  # which goes through them in this order
        self.counts.require_enough(self.collection.name, measures=not self.measured)
        self.counts.write(folder)
        return self.counts

    def _taken(self, what: str) -> Iterator[Document]:
        """The documents that pairs are made of: all, or every n-th and those that are judged."""
        stream = self.progress.track(self.collection.documents(), what, self.counts.documents)
        for place, document in enumerate(stream):
            taken = place % self.every == 0 or document.doc_id in self.given_documents
            if taken and document.doc_id == _encodable(document.doc_id):  # of another, no file can be written
                yield Document(document.doc_id, _encodable(document.title), _encodable(document.text))

    def _look(self) -> tuple[WordUse, set[str]]:
        """How documents use words, and which of them are near-copies of others."""
        frequency: Counter[str] = Counter()
        copies, known, n_documents = set[str](), NearCopies(), 0
        for document in self._taken("looking for near-copies"):
            words = split_words(document.contents)
            if known.is_copy(words):
                copies.add(document.doc_id)
                continue
            n_documents += 1
            self.titles[_title(document)] += 1
            frequency.update(set(words))
        self.counts.dropped[NEAR_COPY] = len(copies)
        return WordUse(n_documents, frequency), copies

    def _documents(self, use: WordUse, copies: set[str]) -> Iterator[Document]:
        """What is left of every document. On the way its queries are noted, and what it is held out for."""
        links: list[tuple[str, MadeQuery]] = []
        names: set[str] = set()
        for document in self._taken("making pairs"):
            if document.doc_id in copies and document.doc_id not in self.given_documents:
                continue
            if split := self._split(document, use.n_documents):
                self.held_out[document.doc_id] = split
            chance, shared = random.Random(f"{self.seed}\0{document.doc_id}"), self.titles[_title(document)] > 1
            made = made_of(document, use, chance, bool(split), shared)
            for query in _queries_to_take(made.queries, bool(split)):
                self._ask(query, made.document, use)
            for link in made.links:
                target = posixpath.normpath(posixpath.join(posixpath.dirname(document.doc_id), link.target))
                links.append((target, MadeQuery(LINK, link.said)))
            names.add(document.doc_id)
            yield made.document
        self._ask_by_links(links, names, use)

    def _ask_by_links(self, links: list[tuple[str, MadeQuery]], names: set[str], use: WordUse) -> None:
        """What a link shows asks for the document that it leads to, where that is one of the collection and trains."""
        for target, query in links:
            found = next((name for name in _possible_ids(target) if name in names), None)
            if found is not None and found not in self.held_out:
                self._ask(query, Document(found, "", ""), use)

    def _ask(self, query: MadeQuery, document: Document, use: WordUse) -> None:
        """Note a query for a document, or count why not."""
        reason = why_trivial(query.text, document, use)
        key = query_key(query.text)
        if not reason and key in self.measured:
            reason = MEASURED
        if reason:
            self.counts.dropped[reason] += 1
            return
        found = self.asked.setdefault(key, _Asked(query.kind, query.text))
        if document.doc_id not in found.doc_ids and len(found.doc_ids) <= MOST_DOCUMENTS:
            found.doc_ids.append(document.doc_id)

    def _split(self, document: Document, n_documents: int) -> str:
        """What a document is held out for; empty where it trains, as those of given pairs do. Documents of one title go
        together: their queries are alike."""
        if document.doc_id in self.given_documents:
            return ""
        test = UNMEASURED_SHARE if self.measured else TEST_SHARE
        most = MOST_HELD_OUT / max(1, n_documents)
        share = _share(self.seed, _title(document) or document.doc_id)
        if share < min(DEV_SHARE, most):
            return DEV
        return TEST if share < min(DEV_SHARE, most) + min(test, most) else ""

    def _queries(self) -> Iterator[Query]:
        """Those that stay, numbered in order, then those that were given; asked for when all documents were read."""
        cut_out: list[list[Qrel]] = []
        for number, one in enumerate(self._kept(), 1):
            query_id, split = f"{PREFIX}{number}", self.held_out.get(one.doc_ids[0], TRAIN)
            qrels = [Qrel(query_id, doc_id, 1) for doc_id in one.doc_ids]
            self.judged[split] += qrels
            if one.kind in LEFT_OUT and split != TEST:
                cut_out.append(qrels)
            self.counts.add(split, one.kind, one.text, one.doc_ids[0])
            yield Query(query_id, one.text)
        given = {qrel.query_id for qrel in self.given_pairs}
        if given:
            yield from (query for query in self.collection.queries() if query.query_id in given)
        self.judged[TRAIN] += self.given_pairs
        every = -(-len(cut_out) // MOST_CUT_OUT) or 1
        self.judged[CUT_OUT] += [qrel for qrels in cut_out[::every] for qrel in qrels]

    def _kept(self) -> Iterator[_Asked]:
        """The queries that stay: all that are held out, and of those that train no more than the most, evenly."""
        kept = [one for one in self.asked.values() if self._stays(one)]
        every = -(-sum(one.doc_ids[0] not in self.held_out for one in kept) // MOST_PAIRS) or 1
        n_training = 0
        for one in kept:
            trains = one.doc_ids[0] not in self.held_out
            if not trains or n_training % every == 0:
                yield one
            n_training += trains

    def _judgements(self, split: str) -> Iterator[Qrel]:
        """Those of a split; asked for when all queries were written."""
        yield from self.judged[split]

    def _stays(self, one: _Asked) -> bool:
        splits = {self.held_out.get(doc_id, TRAIN) for doc_id in one.doc_ids}
        reason = TOO_MANY if len(one.doc_ids) > MOST_DOCUMENTS else MIXED if len(splits) > 1 else ""
        if reason:
            self.counts.dropped[reason] += 1
        return not reason


def _queries_to_take(queries: list[MadeQuery], held_out: bool) -> list[MadeQuery]:
    """All of them where the document trains; of one that is held out those that were cut out of it or, where there are
    none, the first: by words that stand in a document, nearly every system finds it."""
    cut_out = [query for query in queries if query.kind in LEFT_OUT]
    return (cut_out or queries[:1]) if held_out else queries


def _encodable(text: str) -> str:
    """A text that UTF-8 can hold: lone surrogates, which JSON can, are replaced."""
    return text.encode("utf-8", "replace").decode()


def _title(document: Document) -> str:
    return query_key(document.title)


def _share(seed: int, name: str) -> float:
    """A number from 0 to 1 that the seed and a name decide."""
    digest = hashlib.blake2b(f"{seed}\0{name}".encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest, "little") / 2**64


def _possible_ids(target: str) -> tuple[str, ...]:
    """The documents that a relative link may mean: a file, or a folder's page."""
    return target, f"{target}.md", f"{target}/index.md", f"{target}/README.md"


def measured_queries(collection: Collection, split: str) -> set[str]:
    """The queries of all judgements that are measured, or might be: test and dev, and `split` where that is another."""
    splits = [one for one in collection.splits if one in EVALUATION_SPLITS or one == split]
    return {qrel.query_id for one in splits for qrel in collection.qrels(one)}


def given_pairs(collection: Collection, split: str = "auto") -> list[Qrel]:
    """The collection's own positive training judgements, of queries that are known and not measured."""
    if TRAIN not in collection.splits:
        return []
    known = {query.query_id for query in collection.queries()} - measured_queries(collection, split)
    return [qrel for qrel in collection.qrels(TRAIN) if qrel.relevance > 0 and qrel.query_id in known]
