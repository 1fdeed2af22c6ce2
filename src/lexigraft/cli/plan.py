"""`plan`: what a collection of any size takes."""

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lexigraft.cli.console import print_json, print_line, print_prose, print_table
from lexigraft.cli.options import JsonOption, SystemOption
from lexigraft.core.errors import SettingError

if TYPE_CHECKING:
    from lexigraft.plan.arithmetic import Rates

RATES, PRICES = "Rates that replace the measured ones", "Prices"
Rate = float | None


def plan(
    documents: Annotated[float, typer.Option("--documents", help="How many there are, such as 1e9.")],
    terms: Annotated[Rate, typer.Option("--terms", help="Terms kept of a document (dk). Without it: 40.")] = None,
    subwords: Annotated[
        Rate, typer.Option("--subwords", help="Subwords that the model reads of a text. Without it: 30.")
    ] = None,
    flops: Annotated[
        Rate,
        typer.Option("--flops", help="Postings a query touches for each document. Without it: as in the curve."),
    ] = None,
    steps: Annotated[float, typer.Option("--steps", help="Training steps, of 512 pairs.")] = 1500,
    gpus: Annotated[float, typer.Option("--gpus", help="GPUs that encode at the same time.")] = 1,
    node_memory: Annotated[float, typer.Option("--node-memory", help="Memory of a searching node, in GiB.")] = 64,
    memory_share: Annotated[float, typer.Option("--memory-share", help="The share of it for the index.")] = 0.8,
    nodes: Annotated[
        float, typer.Option("--nodes", help="Nodes of a copy, at least: fewer documents on each are searched sooner.")
    ] = 1,
    replicas: Annotated[float, typer.Option("--replicas", help="Copies of the index.")] = 1,
    run: Annotated[
        Path | None, typer.Option("--run", help="A run of yours: its terms, bytes, subwords and FLOPS are taken.")
    ] = None,
    system: SystemOption = None,
    gpu_price: Annotated[
        Rate, typer.Option("--gpu-price", rich_help_panel=PRICES, help="Of a GPU for an hour; no default.")
    ] = None,
    node_price: Annotated[
        Rate, typer.Option("--node-price", rich_help_panel=PRICES, help="Of a node for an hour; no default.")
    ] = None,
    gpu_subwords: Annotated[
        Rate, typer.Option("--gpu-subwords", rich_help_panel=RATES, help="Subwords a second on one GPU.")
    ] = None,
    core_subwords: Annotated[
        Rate, typer.Option("--core-subwords", rich_help_panel=RATES, help="Subwords a second on one core.")
    ] = None,
    step_ms: Annotated[
        Rate, typer.Option("--step-ms", rich_help_panel=RATES, help="Milliseconds of a training step.")
    ] = None,
    posting_bytes: Annotated[
        Rate, typer.Option("--posting-bytes", rich_help_panel=RATES, help="Index bytes of a posting.")
    ] = None,
    document_bytes: Annotated[
        Rate, typer.Option("--document-bytes", rich_help_panel=RATES, help="Other index bytes of a document.")
    ] = None,
    build_documents: Annotated[
        Rate, typer.Option("--build-documents", rich_help_panel=RATES, help="Documents a second that are indexed.")
    ] = None,
    latency: Annotated[
        list[str] | None,
        typer.Option(
            "--latency", rich_help_panel=RATES, metavar="DOCUMENTS:P50:P99", help="A point of a curve, in ms."
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Say what a collection of so many documents takes: hours to train, encode and build, bytes, nodes, latency, money.

    It is arithmetic over rates that were measured, each named with its source. Give your own where your machines, texts
    or models are others, or a run of yours with --run.
    """
    from lexigraft.plan.arithmetic import Work
    from lexigraft.plan.arithmetic import plan as planned
    from lexigraft.plan.measured import MEASURED, SOURCES, parse_latency

    given: dict[str, Any] = {"terms": terms, "subwords": subwords, "query_postings": flops}
    rates: dict[str, Any] = {
        "gpu_subwords": gpu_subwords, "core_subwords": core_subwords, "step_ms": step_ms,
        "posting_bytes": posting_bytes, "document_bytes": document_bytes, "build_documents": build_documents,
        "curve": tuple(parse_latency(point) for point in latency) if latency else None,
    }  # fmt: skip
    sources = {name: f"docs/results/{source}" for name, source in SOURCES.items()}
    sources |= {name: "given" for name, value in {**rates, **given}.items() if value is not None}
    if run is not None:
        _take_from_run(run, system, given, rates, sources)
    elif system is not None:
        raise SettingError("--system chooses among the systems of a --run; give both or neither")
    known = {name: value for name, value in given.items() if value is not None}
    work = Work(
        documents, steps=steps, gpus=gpus, node_memory_gib=node_memory, memory_share=memory_share, nodes=nodes,
        replicas=replicas, gpu_price=gpu_price, node_price=node_price, **known,
    )  # fmt: skip
    used = replace(MEASURED, **{name: value for name, value in rates.items() if value is not None})
    found = planned(work, used)
    if json:
        print_json({"plan": asdict(found), "asked": asdict(work), "rates": asdict(used), "sources": sources})
        return
    _show(found, work, used, sources)


def _take_from_run(
    run: Path, system: str | None, given: dict[str, Any], rates: dict[str, Any], sources: dict[str, str]
) -> None:
    """Fill in what the run says and no option does."""
    from lexigraft.plan.of_run import facts_of_run

    facts = facts_of_run(run, system)
    for name, value in asdict(facts).items():
        target = given if name in given else rates if name in rates else {}
        if value is not None and target.get(name, value) is None:
            target[name], sources[name] = value, f"{facts.name} of {run}, {facts.documents:,} documents"


def _show(found: Any, work: Any, used: "Rates", sources: dict[str, str]) -> None:
    from lexigraft.plan.in_words import rows_of

    title = f"{work.documents:,.0f} documents of {work.terms:g} terms"
    print_table(title, ("what", "how much", "how"), rows_of(found, work, used), left=("what", "how"))
    print_prose("Every number is a rate times a count. The rates, and where they were measured:")
    for name, source in sources.items():
        value = getattr(used, name, None) or getattr(work, name)
        shown = f"{len(value)} points" if isinstance(value, tuple) else f"{value:,.6g}"
        print_line(f"  {name} {shown}: {source}")
