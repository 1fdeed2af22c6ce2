"""What a run of the user's says of a collection a thousand times its size: terms, bytes, subwords, postings touched."""

from dataclasses import dataclass
from pathlib import Path

from lexigraft.core.errors import InputError
from lexigraft.core.stored_record import as_expected
from lexigraft.index.codec import RANGE
from lexigraft.index.store import open_index
from lexigraft.retrieve.place import Place, find_place
from lexigraft.stages.layout import CONTINUE, RunFolder
from lexigraft.stages.report import read_report

ENTRY_BYTES = 4  # where a term's list begins in a range of documents
OF_DOCUMENTS = (
    "doc_ids.",
    "titles.",
    "tie_rank.",
)  # the tables that grow with documents; texts are not counted


@dataclass(frozen=True)
class RunFacts:
    """None: the run does not say. `subwords` is the most that its model reads of a text."""

    name: str
    documents: int
    terms: float
    posting_bytes: float
    document_bytes: float
    subwords: float | None
    query_postings: float | None


def facts_of_run(run: Path, system: str | None = None) -> RunFacts:
    """Of the run's recommended system, or another, at its operating point."""
    place = find_place(run, system)
    if place.kind or place.run is None:
        raise InputError(f"{run} has no index of terms to plan by; name a system that has one with --system")
    meta = open_index(place.index).meta
    if not meta.n_documents or not meta.n_postings:
        raise InputError(f"{place.index} is empty, so nothing can be planned by it")
    rows = sum(file.stat().st_size for file in place.index.iterdir() if file.name.startswith(OF_DOCUMENTS))
    # A small collection fills no range of documents, so its entries are many for each of them; a large one fills all.
    entries = ENTRY_BYTES * meta.n_terms / RANGE
    subwords, query_postings = _from_report(place.run, place)
    return RunFacts(
        name=place.name,
        documents=meta.n_documents,
        terms=meta.n_postings / meta.n_documents,
        posting_bytes=(place.index / "stream.npy").stat().st_size / meta.n_postings,
        document_bytes=rows / meta.n_documents + entries,
        subwords=subwords,
        query_postings=query_postings,
    )


def _from_report(run: RunFolder, place: Place) -> tuple[float | None, float | None]:
    """(subwords that are read of a text, postings touched a document) where the run was measured at that pruning."""
    with as_expected(run.report("json"), CONTINUE):
        report = read_report(run)
        read = report.get("read_of_documents", {}).get(place.system, {}).get("length")
        wanted = (place.system, str(place.qk), str(place.dk))
        flops = [row["FLOPS"] for row in report["rows"] if (row["system"], str(row["qk"]), str(row["dk"])) == wanted]
        return _number(read), _number(flops[0] if flops else None)


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and value > 0 else None
