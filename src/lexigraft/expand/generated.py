"""Expansion by text that something generated (X3): from a file, whoever wrote it.

Query2Doc (Wang, Yang and Wei, EMNLP 2023): a query is asked `repeats` times over, followed by a passage generated for
it, as one BM25 query. DocT5Query (Nogueira and Lin, 2019): queries generated for a document are appended to it before
it is indexed.

    .jsonl    {"id": ..., "text": a text, or a list of them} a line
    .tsv      id, text, separated by a tab

each plain or as .gz. An id may come on several lines; its texts are then put one after the other.
"""

import hashlib
import logging
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.arrays import ArrayWriter, StringTable, StringTableWriter, open_array
from lexigraft.core.errors import InputError, SettingError
from lexigraft.core.types import Document, Query, SparseMatrix, Vocabulary
from lexigraft.data.readers.documents import checked_id, json_records, split_fields
from lexigraft.data.readers.lines import read_lines
from lexigraft.vectors.query_encoder import QueryEncoder, encode_queries

REPEATS = 5  # of the query before the generated passage, in Query2Doc with BM25
EXAMPLES = 3
RECORDS_AT_ONCE = 4096

log = logging.getLogger(__name__)


def read_generated(path: Path) -> Iterator[tuple[str, str]]:
    """Stream (id, text) of a file, several texts of a line one by one."""
    if not path.is_file():
        raise InputError(f"there is no file {path}; give generated text as .jsonl or .tsv")
    name = path.name.removesuffix(".gz")
    if name.endswith(".jsonl"):
        yield from _json_texts(path)
    elif name.endswith(".tsv"):
        for line in read_lines(path):
            identifier, text = split_fields(line, 2, "id and text")
            yield checked_id(identifier, line.where), text
    else:
        raise InputError(f"{path} is not a file of generated text: .jsonl or .tsv, plain or .gz")


def _json_texts(path: Path) -> Iterator[tuple[str, str]]:
    for line, record in json_records(path):
        identifier, text = record.get("id"), record.get("text")
        if not isinstance(identifier, str):
            present = ", ".join(record) or "nothing"
            raise InputError(f"{line.where}: field 'id' must be a string, found {identifier!r}; present: {present}")
        for item in text if isinstance(text, list) else [text]:
            if not isinstance(item, str):
                raise InputError(f"{line.where}: field 'text' must be a string or a list of them, found {item!r}")
            yield checked_id(identifier, line.where), item


class GeneratedTexts:
    """Texts by id, kept on disk, with 17 bytes in memory for each; remembers which were asked for.

    Made by `open_generated`.
    """

    def __init__(self, path: Path, folder: Path) -> None:
        self.path = path
        self._ids, self._texts = StringTable(folder, "ids"), StringTable(folder, "texts")
        hashes = open_array(folder / "hashes.npy")
        self._order: NDArray[np.int64] = np.argsort(hashes, kind="stable")  # stable: an id's texts stay in order
        self._hashes: NDArray[np.uint64] = hashes[self._order]
        self._asked_for = np.zeros(len(self._ids), bool)
        self._n_asked, self._missing, self._n_missing = 0, list[str](), 0

    def of(self, identifier: str) -> list[str]:
        """The texts of an id, in the file's order; empty where it has none."""
        key = np.uint64(_hash(identifier))
        span = range(int(np.searchsorted(self._hashes, key)), int(np.searchsorted(self._hashes, key, "right")))
        places = [place for at in span if self._ids[place := int(self._order[at])] == identifier]
        self._n_asked += 1
        self._asked_for[places] = True
        if not places:
            self._n_missing += 1
            self._missing += [identifier] if len(self._missing) < EXAMPLES else []
        return [self._texts[place] for place in places]

    def report(self, what: str) -> dict[str, int]:
        """{"missing", "unknown"}: how many ids asked for have no text, and texts belong to none of them; both in a
        warning with the first of each. Raises where nothing fits at all. `what` names the ids: queries, documents."""
        if self._n_asked and self._n_missing == self._n_asked:
            raise InputError(
                f"{self.path} has no text for any of the {self._n_asked} {what} (such as {self._missing[0]!r}); its "
                f"ids are such as {', '.join(map(repr, self._ids[:EXAMPLES])) or 'none'}"
            )
        if self._n_missing:
            message = "%s: %d of %d %s have no generated text and stay as they are (such as %s)"
            log.warning(message, self.path, self._n_missing, self._n_asked, what, ", ".join(self._missing))
        not_asked = np.flatnonzero(~self._asked_for)
        if len(not_asked):
            examples = list(dict.fromkeys(self._ids[int(place)] for place in not_asked[: 10 * EXAMPLES]))[:EXAMPLES]
            message = "%s: %d texts are of ids that are no %s here and are left out (such as %s)"
            log.warning(message, self.path, len(not_asked), what, ", ".join(examples))
        return {"missing": self._n_missing, "unknown": len(not_asked)}


def _hash(identifier: str) -> int:
    return int.from_bytes(hashlib.blake2b(identifier.encode(), digest_size=8).digest(), "little")


@contextmanager
def open_generated(path: Path) -> Iterator[GeneratedTexts]:
    """The texts of the file at `path`, in any order of ids and of any size: they are copied to a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="lexigraft-") as name:
        folder = Path(name)
        with ExitStack() as files:
            ids, texts = (files.enter_context(StringTableWriter(folder, part)) for part in ("ids", "texts"))
            hashes = files.enter_context(ArrayWriter(folder / "hashes.npy", np.uint64))
            stream = read_generated(path)
            while some := list(islice(stream, RECORDS_AT_ONCE)):
                ids.extend(identifier for identifier, _ in some)
                texts.extend(text for _, text in some)
                hashes.append(np.array([_hash(identifier) for identifier, _ in some], np.uint64))
        yield GeneratedTexts(path, folder)


def expanded_queries(
    queries: Sequence[Query],
    generated: GeneratedTexts,
    encoder: QueryEncoder,
    vocabulary: Vocabulary,
    repeats: int = REPEATS,
) -> SparseMatrix:
    """Query2Doc: one row a query, in order: its terms `repeats` times, and those generated for it once. A query without
    generated text is asked once."""
    if repeats < 1:
        raise SettingError(f"repeats = {repeats} is not allowed: the query itself is asked 1 time or more")
    texts = []
    for query in queries:
        added = generated.of(query.query_id)
        text = " ".join((*[query.text] * repeats, *added)) if added else query.text
        texts.append(Query(query.query_id, text))
    return encode_queries(texts, encoder, vocabulary)


def expanded_documents(documents: Iterable[Document], generated: GeneratedTexts) -> Iterator[Document]:
    """DocT5Query: every document with what was generated for it at its end."""
    for document in documents:
        added = generated.of(document.doc_id)
        yield document._replace(text=" ".join((document.text, *added))) if added else document
