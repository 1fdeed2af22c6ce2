"""From the size of a collection to hours, bytes, machines, milliseconds and money: a pure function of numbers."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any

from lexigraft.core.errors import SettingError, require

MOST = 1e15  # of anything: far above what there is, and far below where floats lose count
VECTOR_BYTES = 8  # of a posting before it is indexed: a term id and a weight, 4 bytes each
HOUR, MONTH_HOURS, GIB = 3600.0, 730.0, 2.0**30


@dataclass(frozen=True)
class Point:
    """Milliseconds of a search, p50 and p99, over so many documents on one thread."""

    documents: float
    p50_ms: float
    p99_ms: float


@dataclass(frozen=True)
class Rates:
    """What one device, one core or one byte does; `plan/measured.py` has those that were measured."""

    gpu_subwords: float  # a second, one GPU
    core_subwords: float  # a second, one core without a GPU
    step_ms: float  # a training step on one GPU
    posting_bytes: float  # the index's lists
    document_bytes: float  # the index's tables: ids, titles, ranks
    build_documents: float  # a second, from vectors to an index, one core
    curve_postings: float  # postings a query touches for each document, in `curve`
    curve: Sequence[Point]


@dataclass(frozen=True)
class Work:
    """What is asked. Prices are None where none was given, and then nothing is said of money."""

    documents: float
    terms: float = 40.0  # postings a document
    subwords: float = 30.0  # a text, as many of it as the model reads
    query_postings: float | None = None  # a query touches for each document (FLOPS); None: as in the measured curve
    steps: float = 1500.0  # of training
    gpus: float = 1.0
    node_memory_gib: float = 64.0
    memory_share: float = 0.8  # of a node's memory that the index may fill
    nodes: float = 1.0  # of a copy, at least
    replicas: float = 1.0
    gpu_price: float | None = None  # an hour
    node_price: float | None = None  # an hour


@dataclass(frozen=True)
class Plan:
    """What it takes; sizes in bytes, money in the currency of the prices."""

    postings: float
    training_gpu_hours: float
    encode_gpu_hours: float
    encode_hours: float  # with all GPUs
    encode_core_hours: float  # instead, without a GPU
    vector_bytes: float
    build_core_hours: float
    index_bytes: float  # one copy
    nodes: int  # all copies
    documents_a_node: float
    p50_ms: float
    p99_ms: float
    is_beyond_curve: bool  # a node has more documents than were ever measured
    money_once: float | None
    money_a_month: float | None


def plan(work: Work, rates: Rates) -> Plan:
    """What `work` takes at these rates. Everything but the latency is a product; latency goes along the measured curve,
    by the documents of one node, and by the postings that a query touches of each."""
    _require_sensible(work, rates)
    postings = work.documents * work.terms
    encode = work.documents * work.subwords / rates.gpu_subwords / HOUR
    training = work.steps * rates.step_ms / 1000 / HOUR
    index = postings * rates.posting_bytes + work.documents * rates.document_bytes
    a_node = work.node_memory_gib * GIB * work.memory_share
    nodes_a_copy = max(math.ceil(work.nodes), math.ceil(index / a_node))
    nodes = nodes_a_copy * math.ceil(work.replicas)
    documents = work.documents / nodes_a_copy
    touched = 1.0 if work.query_postings is None else work.query_postings / rates.curve_postings
    p50, p99 = (touched * value for value in _on_curve(rates.curve, documents))
    return Plan(
        postings=postings,
        training_gpu_hours=training,
        encode_gpu_hours=encode,
        encode_hours=encode / work.gpus,
        encode_core_hours=work.documents * work.subwords / rates.core_subwords / HOUR,
        vector_bytes=postings * VECTOR_BYTES,
        build_core_hours=work.documents / rates.build_documents / HOUR,
        index_bytes=index,
        nodes=nodes,
        documents_a_node=documents,
        p50_ms=p50,
        p99_ms=p99,
        is_beyond_curve=documents > max(point.documents for point in rates.curve),
        money_once=None if work.gpu_price is None else (encode + training) * work.gpu_price,
        money_a_month=None if work.node_price is None else nodes * MONTH_HOURS * work.node_price,
    )


def _on_curve(curve: Sequence[Point], documents: float) -> tuple[float, float]:
    """(p50, p99) at so many documents: straight between two measured points; in proportion below the first and beyond
    the last, where a search reads lists of so many documents more and does nothing else."""
    points = sorted(curve, key=lambda point: point.documents)
    for low, high in pairwise(points):
        if low.documents <= documents <= high.documents:
            share = (documents - low.documents) / (high.documents - low.documents)
            return (
                low.p50_ms + share * (high.p50_ms - low.p50_ms),
                low.p99_ms + share * (high.p99_ms - low.p99_ms),
            )
    end = points[0] if documents < points[0].documents else points[-1]
    factor = documents / end.documents
    return end.p50_ms * factor, end.p99_ms * factor


def _require_sensible(work: Work, rates: Rates) -> None:
    for given in (work, rates):
        for one in fields(given):
            value: Any = getattr(given, one.name)
            if isinstance(value, int | float) and not isinstance(value, bool):
                _require_number(one.name, float(value))
    require(work.documents >= 1, "documents", work.documents, "1 or more")
    require(work.gpus >= 1, "gpus", work.gpus, "1 or more")
    require(work.nodes >= 1, "nodes", work.nodes, "1 or more")
    require(work.replicas >= 1, "replicas", work.replicas, "1 or more")
    require(work.memory_share <= 1, "memory_share", work.memory_share, "above 0, at most 1")
    if not rates.curve:
        raise SettingError("no measured latency to go by: give at least one point of the curve")


def _require_number(name: str, value: float) -> None:
    free = name in ("steps", "document_bytes", "gpu_price", "node_price")  # nothing of these is in order
    allowed = f"a number {'from 0' if free else 'above 0'} to {MOST:.0e}"
    require(0 <= value <= MOST and (free or value > 0), name, value, allowed)  # a NaN is in no range
