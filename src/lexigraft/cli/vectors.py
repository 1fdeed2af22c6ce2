"""`lexigraft vectors`: statistics of document and query vectors."""

from pathlib import Path
from typing import Annotated, Any

import typer

from lexigraft.cli.console import BarProgress, print_json, print_line, print_table, show_messages
from lexigraft.cli.options import JsonOption

app = typer.Typer(no_args_is_help=True, help="Look at the vectors of documents and queries.")


@app.command()
def stats(
    path: Annotated[
        list[Path],
        typer.Argument(help="Vectors, such as RUN/judged/esplade/vectors or 'expand' leaves for queries; or a run."),
    ],
    queries: Annotated[
        Path | None, typer.Option("--queries", help="A file of queries, to measure each encoder's vectors of them too.")
    ] = None,
    dk: Annotated[
        list[str] | None, typer.Option("--dk", help="Document terms kept; 0: all; m0.8: by this share of the mass.")
    ] = None,
    qk: Annotated[list[str] | None, typer.Option("--qk", help="Query terms kept, likewise.")] = None,
    threshold: Annotated[
        list[int] | None,
        typer.Option("--threshold", min=1, help="Only terms in so many rows count; else the study's, scaled."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Measure vectors at several prunings: terms a vector, spread of weights a term, spread of postings lengths."""
    from lexigraft.comparison.vector_stats import measure_vectors
    from lexigraft.vectors.stats import DOCUMENT_PRUNINGS, QUERY_PRUNINGS

    show_messages()
    found = measure_vectors(path, queries, dk or DOCUMENT_PRUNINGS, qk or QUERY_PRUNINGS, threshold, BarProgress())
    if json:
        print_json(found)
        return
    for facts in found:
        _print(facts)


def _print(facts: dict[str, Any]) -> None:
    kept = "dk" if facts["side"] == "documents" else "qk"
    pairs = [(f"std >={threshold}", f"cnt >={threshold}") for threshold in facts["thresholds"]]
    columns = (kept, "L0", "L0-std", "pos-ls-len-std", *(name for pair in pairs for name in pair))
    rows = []
    for pruned in facts["prunings"]:
        cells = [str(pruned["keep"]), *(f"{pruned[name]:.2f}" for name in ("L0", "L0-std", "pos-ls-len-std"))]
        for item in pruned["by_threshold"]:
            std = item["logit-score-std"]
            cells += ["-" if std is None else f"{std:.4f}", f"{item['logit-cnt']:,}"]
        rows.append(cells)
    title = f"{facts['path']}: {facts['rows']:,} {facts['side']}, {facts['terms']:,} terms"
    print_line(f"{title}; std and cnt: logit-score-std and logit-cnt of terms in so many of them")
    print_table("", columns, rows)
