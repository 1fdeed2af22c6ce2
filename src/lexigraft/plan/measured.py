"""Rates that were measured, each with the file of docs/results that holds it; tests compare them with those files.

They are of certain machines and certain models: a plan for others is as good as the rates it is given instead.
"""

from lexigraft.core.errors import InputError
from lexigraft.plan.arithmetic import Point, Rates

# Of a training step on one H200: 512 queries of 15 subwords and 512 documents of 30 on average, forward in 11.76 ms.
FORWARD_SUBWORDS, FORWARD_MS = 512 * (15 + 30), 11.76

MEASURED = Rates(
    gpu_subwords=FORWARD_SUBWORDS / (FORWARD_MS / 1000),
    core_subwords=1557,
    step_ms=33.23,
    posting_bytes=2.984,
    document_bytes=42.27,
    build_documents=145_483,
    curve_postings=0.09316,
    curve=(
        Point(1e6, 0.6939, 1.2661),
        Point(2e6, 1.2921, 2.2633),
        Point(5e6, 2.9008, 5.2065),
        Point(1e7, 3.8061, 5.9542),
    ),
)
SOURCES = {
    "gpu_subwords": "training_step.json: the forward pass of a training step on one H200, six layers of width 384 and "
    "100,000 terms; reading texts and writing vectors is not in it",
    "core_subwords": "encoding_documents.json: from texts to vectors in 8 bits, six layers of width 384 and 30,522 "
    "terms on one core of a Neoverse N1",
    "step_ms": "training_step.json: 512 pairs, 100,000 terms, one H200",
    "posting_bytes": "ten_million.json: lists of 10,000,000 made documents with 40 of 100,000 terms each",
    "document_bytes": "ten_million.json: ids of 8 bytes, titles of 14, their places, ranks; texts are not kept",
    "build_documents": "ten_million.json: from vectors to an index, one core of a 2.5 GHz Xeon",
    "curve": "ten_million.json: core time at k = 10, one thread, queries of 8 terms, all of the index in memory",
}


def parse_latency(given: str) -> Point:
    """A point of a curve as "DOCUMENTS:P50:P99"; raises `InputError` where it is none."""
    try:
        documents, p50, p99 = (float(part) for part in given.split(":"))
    except ValueError:
        raise InputError(f"--latency {given!r} is not DOCUMENTS:P50:P99 in milliseconds, such as 1e6:0.7:1.3") from None
    if not (1 <= documents <= 1e15 and 0 < p50 <= p99 <= 1e9):
        raise InputError(f"--latency {given!r}: documents from 1, and milliseconds above 0, p50 not above p99")
    return Point(documents, p50, p99)
