"""`fuse`: several rankings made into one."""

from pathlib import Path
from typing import Annotated

import typer

from lexigraft.cli.console import show, show_messages
from lexigraft.cli.options import JsonOption


def fuse(
    trec_run: Annotated[list[Path], typer.Argument(help="Two or more TREC run files, of any systems.")],
    out_: Annotated[Path, typer.Option("--out", help="The TREC run to write.")],
    method: Annotated[
        str,
        typer.Option(
            "--method",
            help="rrf: reciprocal ranks; borda: points for places; weighted: of two runs, scores mapped to 0..1.",
            metavar="rrf|borda|weighted",
        ),
    ] = "rrf",
    k: Annotated[
        float | None,
        typer.Option(
            "--k",
            min=0,
            help="rrf: a document at place p adds 1 / (k + p); a larger k evens places out.",
            show_default="60",
        ),
    ] = None,
    weight: Annotated[
        list[float] | None,
        typer.Option(
            "--weight",
            help="rrf: what a run's part is multiplied by; none, or one for each run, in order. weighted: the first "
            "run's part, 0 to 1; 0.5 where not given.",
        ),
    ] = None,
    borda_depth: Annotated[
        int | None,
        typer.Option(
            "--borda-depth",
            min=1,
            help="borda: the first of a run gets so many points, the next one less, and so on.",
            show_default="50",
        ),
    ] = None,
    depth: Annotated[int, typer.Option("--depth", min=1, help="How many documents a query to keep.")] = 1000,
    json: JsonOption = False,
) -> None:
    """Make one ranking of several: by ranks (reciprocal rank fusion, Borda count), or two by their scores.

    The result is measured as any run is: `lexigraft evaluate FUSED.trec A.trec --data DIR`.
    """
    from lexigraft.retrieve.fusion import fuse_files

    show_messages()
    found = fuse_files(trec_run, out_, k, weight, depth, method, borda_depth)
    show(
        json,
        {"run": str(out_), **found._asdict()},
        f"{out_}: {found.documents:,} documents of {found.queries:,} queries, from {found.runs} runs",
        f"measure it: lexigraft evaluate {out_} --data DIR",
    )
