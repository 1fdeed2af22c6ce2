"""The files of a PISA index as PISA writes them itself: lists, sizes and lexicons.

    inv.docs      sequences of 32 bits, each behind its length: [number of documents], then the documents of each list
    inv.freqs     the same, without the first: the impacts of each list
    inv.sizes     one sequence: the length of each document
    fwd.terms     the terms, one a line, in the order of the lists, which is that of their bytes; fwd.documents: the ids
    fwd.termlex   the terms for looking up: their number, where each begins, where the last ends (64 bits each), and
                  their bytes; fwd.doclex: the ids

https://pisa-engine.github.io/pisa/book/guide/inverting.html has the format of the lists.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from lexigraft.core.progress import Progress
from lexigraft.export.lists.ordered_lists import OrderedLists, require_single_lines

LINES = "PISA reads it from a line of a text file"
AT_ONCE = 1 << 14


def write_lists(lists: OrderedLists, folder: Path, progress: Progress) -> None:
    with (folder / "inv.docs").open("wb") as documents, (folder / "inv.freqs").open("wb") as impacts:
        _write_sequence(documents, np.array([lists.index.n_documents], np.uint32))
        for one in lists.read(progress, "writing lists"):
            _write_sequence(documents, one.ordinals)
            _write_sequence(impacts, one.impacts)
    with (folder / "inv.sizes").open("wb") as sizes:
        _write_sequence(sizes, lists.lengths)


def write_names(lists: OrderedLists, folder: Path) -> None:
    terms, doc_ids = lists.index.vocabulary.terms, lists.index.doc_ids
    _write_lexicon(folder, "terms", "termlex", ([terms[term_id]] for term_id in lists.order.tolist()), "term")
    batches = (doc_ids[start : start + AT_ONCE] for start in range(0, len(doc_ids), AT_ONCE))
    _write_lexicon(folder, "documents", "doclex", batches, "document id")


def _write_sequence(file: BinaryIO, numbers: NDArray[Any]) -> None:
    file.write(np.uint32(len(numbers)).astype("<u4").tobytes())
    file.write(np.ascontiguousarray(numbers, "<u4").data)


def _write_lexicon(folder: Path, lines: str, lexicon: str, batches: Iterable[list[str]], what: str) -> None:
    """The names as lines, and from those the same for looking up."""
    sizes = []
    with (folder / f"fwd.{lines}").open("wb") as file:
        for names in batches:
            require_single_lines(names, what, LINES)
            encoded = [name.encode() for name in names]
            sizes += [len(name) for name in encoded]
            file.write(b"".join(name + b"\n" for name in encoded))
    offsets = np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))
    with (folder / f"fwd.{lexicon}").open("wb") as out, (folder / f"fwd.{lines}").open("rb") as file:
        out.write(np.array([len(sizes), *offsets], "<u8").data)
        for part in file:
            out.write(part[:-1])
