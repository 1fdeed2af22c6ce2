"""The Common Index File Format: one file with the header, all lists and all documents, which PISA, Lucene, Terrier and
others read. Impacts stand where the format has term frequencies."""

from pathlib import Path
from typing import BinaryIO

from lexigraft.core.errors import InputError
from lexigraft.core.progress import Progress
from lexigraft.export.lists.ciff_wire import (
    LONGEST_MESSAGE,
    header,
    list_head,
    postings_size,
    write_postings,
    write_records,
)
from lexigraft.export.lists.lists_of_source import lists_of, lost_with_lists
from lexigraft.export.lists.ordered_lists import OrderedLists, require_single_lines, with_capitals
from lexigraft.export.lists.query_files import REPEATED, WEIGHTED, write_queries
from lexigraft.export.source import Source
from lexigraft.export.targets import Exported, Wanted

FILE = "index.ciff"
DESCRIPTION = "Quantised impacts of Lexigraft as term frequencies; the score of a document is the dot product"
POSTINGS_AT_ONCE, RECORDS_AT_ONCE = 1 << 20, 1 << 14
LINES = "PISA's converter writes it as a line of a text file"

USE = f"""
Lists are in the order of their terms' UTF-8 bytes, those without postings are left out, and a document's length is the
sum of its impacts. Rank by the sum of products of impacts and query weights, with neither IDF nor norms.

PISA's own index, through PyTerrier (`pip install pyterrier-pisa pyciff`; pyciff has wheels up to Python 3.10):

```python
from pyterrier_pisa import PisaIndex
index = PisaIndex.from_ciff("{FILE}", "pisa-index", stemmer="none")
retriever = index.quantized(num_results=100, toks_scale=1)  # 1: the weights of queries are whole numbers already
```

PISA's command line (`ciff2pisa` of https://github.com/pisa-engine/ciff):

```bash
ciff2pisa --ciff-file {FILE} --output pisa --generate-lexicons
create_wand_data --collection pisa --output pisa.bmw --block-size 64 --scorer quantized
compress_inverted_index --collection pisa --encoding block_simdbp --output pisa.block_simdbp
evaluate_queries --encoding block_simdbp --index pisa.block_simdbp --wand pisa.bmw --algorithm block_max_wand -k 100 \\
    --scorer quantized --weighted --tokenizer whitespace --terms pisa.termlex --documents pisa.doclex \\
    --queries {REPEATED} > run.trec
```

Lucene: https://github.com/informagi/lucene-ciff makes a Lucene index of `{FILE}`.

Back: `lexigraft index import {FILE} --format ciff --out INDEX`.
"""


def write(wanted: Wanted, folder: Path, progress: Progress) -> Exported:
    source = Source.open(wanted.path, wanted.system, wanted.qk, wanted.dk)
    lists = lists_of(source, progress)
    require_single_lines(source.terms, "term", LINES)
    n_bytes = write_ciff(lists, folder / FILE, progress)
    lost = [*lost_with_lists(source), *write_queries(source, wanted.queries, folder, progress)]
    if capitals := with_capitals(lists):
        lost.append(
            f"terms with capital letters ({len(capitals):,}), in PyTerrier alone: PISA's binding looks terms of "
            "queries up in lower case"
        )
    index = source.index
    return Exported(
        f"The Common Index File Format: {index.n_documents:,} documents, {len(lists.order):,} lists",
        kept=(
            f"every posting with its impact, a whole number below {2**index.meta.bits:,}",
            "document ids, and the order of the documents",
            *([f"queries that have a term, with terms repeated ({REPEATED}) and weighted ({WEIGHTED})"]
              if wanted.queries else []),
        ),
        lost=lost,
        use=USE,
        parents={"index": index.fingerprint},
        facts={
            "n_documents": index.n_documents, "n_lists": len(lists.order), "n_postings": index.meta.n_postings,
            "scale": index.meta.scale, "bytes": n_bytes,
        },
    )  # fmt: skip


def write_ciff(lists: OrderedLists, path: Path, progress: Progress) -> int:
    """Write the file; returns its size."""
    with path.open("wb") as file:
        file.write(header(len(lists.order), lists.index.n_documents, lists.total, DESCRIPTION))
        _write_lists(lists, file, progress)
        _write_documents(lists, file, progress)
        return file.tell()


def _write_lists(lists: OrderedLists, file: BinaryIO, progress: Progress) -> None:
    for term, ordinals, impacts in lists.read(progress, "writing lists"):
        head = list_head(term.encode(), impacts, n_bytes := postings_size(ordinals, impacts))
        if len(head) + n_bytes > LONGEST_MESSAGE:
            raise InputError(
                f"the list of term {term!r} takes {n_bytes:,} bytes, more than a message of CIFF may have "
                f"({LONGEST_MESSAGE:,}); export parts of the collection"
            )
        file.write(head)
        for start in range(0, len(ordinals), POSTINGS_AT_ONCE):
            span = slice(start, start + POSTINGS_AT_ONCE)
            before = int(ordinals[start - 1]) if start else 0
            file.write(write_postings(ordinals[span], impacts[span], before).data)


def _write_documents(lists: OrderedLists, file: BinaryIO, progress: Progress) -> None:
    doc_ids, n_documents = lists.index.doc_ids, lists.index.n_documents
    starts = range(0, n_documents, RECORDS_AT_ONCE)
    for start in progress.track(starts, "writing documents", len(starts)):
        names = doc_ids[start : min(start + RECORDS_AT_ONCE, n_documents)]
        require_single_lines(names, "document id", LINES)
        file.write(
            write_records(start, [name.encode() for name in names], lists.lengths[start : start + len(names)]).data
        )
