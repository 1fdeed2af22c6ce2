"""A plan as rows for people: what, how much, and by which arithmetic."""

from collections.abc import Iterator
from typing import NamedTuple

from lexigraft.plan.arithmetic import GIB, MONTH_HOURS, Plan, Rates, Work

STEPS_OF_SIZE = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))


class Row(NamedTuple):
    what: str
    how_much: str
    how: str


def rows_of(plan: Plan, work: Work, rates: Rates) -> Iterator[Row]:
    """The rows, in the order in which the work is done."""
    n = _count(work.documents)
    texts = f"{n} texts x {work.subwords:g} subwords"
    yield Row("training", _hours(plan.training_gpu_hours), f"{work.steps:g} steps x {rates.step_ms:g} ms, one GPU")
    yield Row("encoding, GPU hours", _hours(plan.encode_gpu_hours), f"{texts} / {_count(rates.gpu_subwords)} a second")
    if work.gpus > 1:
        yield Row(f"encoding on {work.gpus:g} GPUs", _hours(plan.encode_hours), "GPU hours / GPUs")
    cores = f"{texts} / {_count(rates.core_subwords)} a second"
    yield Row("or encoding without a GPU, core hours", _hours(plan.encode_core_hours), cores)
    yield Row("vectors on disk", size(plan.vector_bytes), f"{_count(plan.postings)} postings x 8 bytes")
    building = f"{n} documents / {_count(rates.build_documents)} a second"
    yield Row("building the index, core hours", _hours(plan.build_core_hours), building)
    index = f"{n} x ({work.terms:.4g} x {rates.posting_bytes:.3g} + {rates.document_bytes:.3g}) bytes"
    yield Row("index, one copy", size(plan.index_bytes), index)
    memory = f"{size(work.node_memory_gib * GIB * work.memory_share)} of index fit into a node"
    memory += f"; at least {work.nodes:g} asked for" if work.nodes > 1 else ""
    copies = f", {work.replicas:g} copies" if work.replicas > 1 else ""
    yield Row("nodes", f"{plan.nodes:,}", f"{memory}{copies}")
    yield Row("documents a node", _count(plan.documents_a_node), "documents / nodes of a copy")
    curve = "beyond the measured curve, in proportion" if plan.is_beyond_curve else "along the measured curve"
    yield Row("search on a node, p50", _milliseconds(plan.p50_ms), f"{curve}; one thread, k = 10")
    yield Row("search on a node, p99", _milliseconds(plan.p99_ms), "the same; the network is not in it")
    yield _money("money, once", plan.money_once, f"GPU hours x {work.gpu_price}", "--gpu-price")
    month = f"{plan.nodes} nodes x {MONTH_HOURS:g} hours x {work.node_price}"
    yield _money("money, a month", plan.money_a_month, month, "--node-price")


def _money(what: str, amount: float | None, how: str, option: str) -> Row:
    return Row(what, "?", f"give {option}, for an hour") if amount is None else Row(what, f"{amount:,.2f}", how)


def size(n_bytes: float) -> str:
    """Bytes in the unit that reads best; 1 GB is a thousand million."""
    for unit, name in STEPS_OF_SIZE:
        if n_bytes >= unit:
            return f"{n_bytes / unit:,.3g} {name}" if n_bytes < 1000 * unit else f"{n_bytes / unit:,.0f} {name}"
    return f"{n_bytes:.0f} bytes"


def _count(number: float) -> str:
    return f"{number:,.0f}"


def _hours(hours: float) -> str:
    if hours < 1 / 60:
        return f"{3600 * hours:.2g} s"
    return f"{60 * hours:.2g} min" if hours < 1 else f"{hours:,.1f} h"


def _milliseconds(value: float) -> str:
    return f"{value:.2g} ms" if value < 10 else f"{value:,.0f} ms"
