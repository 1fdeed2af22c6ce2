"""`plan`: what a collection of any size takes."""

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lexigraft.cli.console import print_json, print_line, print_prose, print_table
from lexigraft.cli.option_groups import grouped
from lexigraft.cli.options import JsonOption, SystemOption
from lexigraft.core.errors import SettingError

if TYPE_CHECKING:
    from lexigraft.plan.arithmetic import Plan, Rates, Work

PRICES, RATES = "Prices, which have no default", "Rates that replace the measured ones"
OF_TEXTS = {"terms": "terms", "subwords": "subwords", "flops": "query_postings"}  # options, and what they are of `Work`


def _option(name: str, meaning: str, panel: str | None = None) -> Any:
    return typer.Option(name, help=meaning, rich_help_panel=panel)


@dataclass(frozen=True)
class Asked:
    """How much there is, and on what it is to be done."""

    documents: Annotated[float, _option("--documents", "How many there are, such as 1e9.")]
    terms: Annotated[float | None, _option("--terms", "Terms kept of a document (dk). Without it: 40.")] = None
    subwords: Annotated[
        float | None, _option("--subwords", "Subwords that the model reads of a text. Without it: 30.")
    ] = None
    flops: Annotated[
        float | None, _option("--flops", "Postings a query touches for each document. Without it: as in the curve.")
    ] = None
    steps: Annotated[float, _option("--steps", "Training steps, of 512 pairs.")] = 1500
    gpus: Annotated[float, _option("--gpus", "GPUs that encode at the same time.")] = 1
    node_memory_gib: Annotated[float, _option("--node-memory", "Memory of a node that searches, in GiB.")] = 64
    memory_share: Annotated[float, _option("--memory-share", "The share of it for the index.")] = 0.8
    nodes: Annotated[
        float, _option("--nodes", "Nodes of a copy, at least: fewer documents on each are searched sooner.")
    ] = 1
    replicas: Annotated[float, _option("--replicas", "Copies of the index.")] = 1
    gpu_price: Annotated[float | None, _option("--gpu-price", "Of a GPU for an hour.", PRICES)] = None
    node_price: Annotated[float | None, _option("--node-price", "Of a node for an hour.", PRICES)] = None


@dataclass(frozen=True)
class GivenRates:
    """The rates of one's own machines."""

    gpu_subwords: Annotated[float | None, _option("--gpu-subwords", "Subwords a second, one GPU.", RATES)] = None
    core_subwords: Annotated[float | None, _option("--core-subwords", "Subwords a second, one core.", RATES)] = None
    step_ms: Annotated[float | None, _option("--step-ms", "Milliseconds of a training step.", RATES)] = None
    posting_bytes: Annotated[float | None, _option("--posting-bytes", "Index bytes of a posting.", RATES)] = None
    document_bytes: Annotated[float | None, _option("--document-bytes", "Other index bytes of a document.", RATES)] = (
        None
    )
    build_documents: Annotated[
        float | None, _option("--build-documents", "Documents a second that one core indexes.", RATES)
    ] = None
    latency: Annotated[
        list[str] | None,
        typer.Option("--latency", metavar="DOCUMENTS:P50:P99", help="A point of the curve, ms.", rich_help_panel=RATES),
    ] = None


@grouped
def plan(
    *,
    asked: Asked,
    run: Annotated[
        Path | None, _option("--run", "A run of yours: its terms, bytes, subwords and FLOPS are taken.")
    ] = None,
    system: SystemOption = None,
    given: GivenRates,
    json: JsonOption = False,
) -> None:
    """Say what a collection of so many documents takes: hours to train, encode and build, bytes, nodes, latency, money.

    It is arithmetic over rates that were measured, each named with its source. Give your own where your machines, texts
    or models are others, or a run of yours with --run.
    """
    from lexigraft.plan.arithmetic import Work
    from lexigraft.plan.arithmetic import plan as planned
    from lexigraft.plan.measured import MEASURED, SOURCES, parse_latency

    if run is None and system is not None:
        raise SettingError("--system chooses among the systems of a --run; give both or neither")
    said = {OF_TEXTS.get(name, name): value for name, value in asdict(asked).items() if value is not None}
    rates = {name: value for name, value in asdict(given).items() if value is not None}
    if points := rates.pop("latency", None):
        rates["curve"] = tuple(parse_latency(point) for point in points)
    sources = {name: f"docs/results/{source}" for name, source in SOURCES.items()}
    sources |= dict.fromkeys((*rates, *(name for name in OF_TEXTS.values() if name in said)), "given")
    if run is not None:
        _take_from_run(run, system, said, rates, sources)
    work, used = Work(**said), replace(MEASURED, **rates)
    found = planned(work, used)
    if json:
        print_json({"plan": asdict(found), "asked": asdict(work), "rates": asdict(used), "sources": sources})
    else:
        _show(found, work, used, sources)


def _take_from_run(
    run: Path, system: str | None, said: dict[str, Any], rates: dict[str, Any], sources: dict[str, str]
) -> None:
    """Fill in what the run says and no option does."""
    from lexigraft.plan.of_run import facts_of_run

    facts = facts_of_run(run, system)
    of_run = f"{facts.name}, {facts.documents:,} documents"
    for target, names in ((said, OF_TEXTS.values()), (rates, ("posting_bytes", "document_bytes"))):
        for name in names:
            value = getattr(facts, name)
            if value is not None and name not in target:
                target[name], sources[name] = value, of_run


def _show(found: "Plan", work: "Work", used: "Rates", sources: dict[str, str]) -> None:
    from lexigraft.plan.in_words import rows_of

    title = f"{work.documents:,.0f} documents of {work.terms:.4g} terms"
    print_table(title, ("what", "how much", "how"), rows_of(found, work, used), left=("what", "how"))
    print_prose("Every number is a rate times a count. The rates, and where they were measured:")
    for name, source in sources.items():
        value = getattr(work if name in OF_TEXTS.values() else used, name)
        shown = f"of {len(value)} points" if isinstance(value, tuple) else f"{value:,.6g}"
        print_line(f"  {name} {shown}: {source}")
