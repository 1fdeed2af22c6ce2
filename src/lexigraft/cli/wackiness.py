"""`wackiness`: which expansion terms have nothing to do with what they find."""

from pathlib import Path
from typing import Annotated

import typer

from lexigraft.cli.console import BarProgress, print_json, print_line, print_table, show_messages
from lexigraft.cli.options import JsonOption, OutOption
from lexigraft.cli.setting_options import setting_option
from lexigraft.study.wackiness.settings import WackinessSettings

DOCUMENTS = 20_000


def wackiness(
    out: OutOption,
    run: Annotated[
        list[Path] | None, typer.Option("--run", help="The folder of a run; repeat it to compare several.")
    ] = None,
    model: Annotated[
        list[Path] | None,
        typer.Option(
            "--model",
            help="The folder of a trained or imported model without a run, which encodes --data; may be repeated.",
        ),
    ] = None,
    index: Annotated[
        list[Path] | None,
        typer.Option("--index", help="An index of --data without a run, made by 'lexigraft index'; may be repeated."),
    ] = None,
    generated: Annotated[
        list[Path] | None,
        typer.Option(
            "--generated",
            help="Text generated for the queries of --data (Query2Doc), .jsonl or .tsv: BM25 with queries expanded by "
            "it; may be repeated.",
        ),
    ] = None,
    generated_documents: Annotated[
        list[Path] | None,
        typer.Option(
            "--generated-documents",
            help="Text generated for its documents (DocT5Query): BM25 with documents expanded by it, for --documents "
            "--queries 0; may be repeated.",
        ),
    ] = None,
    system: Annotated[
        list[str] | None,
        typer.Option(
            "--system",
            help="A system for all runs, or one for each in order; their models where not given. bm25+rm3: BM25 with "
            "queries expanded by RM3.",
        ),
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(
            "--data",
            help="The collection for what has no run; and where that of the runs lies, if not where they say.",
        ),
    ] = None,
    queries: Annotated[int, setting_option(WackinessSettings, "queries")] = WackinessSettings.queries,
    documents: Annotated[bool, typer.Option("--documents", help="Take documents as queries, too.")] = False,
    k: Annotated[int, setting_option(WackinessSettings, "k")] = WackinessSettings.k,
    bins: Annotated[int, setting_option(WackinessSettings, "bins")] = WackinessSettings.bins,
    removal: Annotated[
        bool, typer.Option("--removal/--no-removal", help="Measure queries without their wackiest terms.")
    ] = True,
    removal_queries: Annotated[
        int, setting_option(WackinessSettings, "removal_queries")
    ] = WackinessSettings.removal_queries,
    other: Annotated[
        list[str] | None,
        typer.Option("--other", help="Another collection, for removal out of domain; may be repeated."),
    ] = None,
    seed: Annotated[int, setting_option(WackinessSettings, "seed")] = WackinessSettings.seed,
    threads: Annotated[int, setting_option(WackinessSettings, "threads")] = WackinessSettings.threads,
    json: JsonOption = False,
) -> None:
    """Measure which expansion terms have nothing to do with what they find, and what they are worth.

    A term is wacky when it is added to queries but is missing in the documents that they find. Writes scores, curves
    with their areas (W-AUC), the wackiest terms, effectiveness without them, and what pruning by them costs. Called
    again, the command does only what is not done yet.
    """
    from lexigraft.study.wackiness.given import GivenSystems
    from lexigraft.study.wackiness.measure import measure_wackiness

    show_messages()
    settings = WackinessSettings(
        queries=queries,
        documents=DOCUMENTS if documents else 0,
        k=k,
        bins=bins,
        seed=seed,
        removal=removal,
        removal_queries=removal_queries,
        threads=threads,
    )
    given = GivenSystems(model or (), index or (), generated or (), generated_documents or ())
    found = measure_wackiness(run or (), out, settings, system or (), data, other or (), BarProgress(), given)
    if json:
        print_json(found)
        return
    for side, entries in found["sides"].items():
        columns = ["system", "W-AUC", "± 2 sigma", "group", "over all terms", "coverage", "inputs", "wackiest terms"]
        rows = [
            [
                entry["name"], f"{entry['W-AUC']:.4f}", f"{entry['two_sigma']:.4f}", entry["letters"],
                f"{entry['W-AUC_whole_vocabulary']:.4f}", f"{entry['coverage']:.3f}", f"{entry['inputs']:,}",
                " ".join(term["term"] for term in entry["top_terms"][:8]),
            ]
            for entry in sorted(entries, key=lambda entry: entry["W-AUC"])
        ]  # fmt: skip
        print_table(f"expansion of {side}", columns, rows, left=("system", "group", "wackiest terms"))
    print_line(f"tables, curves and numbers: {out}")
