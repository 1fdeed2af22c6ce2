"""`lexigraft tilde`: documents expanded by the words that a masked language model predicts for them."""

from pathlib import Path
from typing import Annotated

import typer

from lexigraft.cli.console import BarProgress, show, show_messages
from lexigraft.cli.given_settings import RecipeOptions, SettingsOptions
from lexigraft.cli.option_groups import grouped
from lexigraft.cli.options import DataOption, JsonOption

app = typer.Typer(no_args_is_help=True, help="Expand documents by words that their queries may use (TILDE).")


@app.command()
@grouped
def train(
    *,
    backbone: Annotated[
        str,
        typer.Option("--backbone", help="A masked language model: a folder, such as of 'model mlm', or a hub name."),
    ],
    data: DataOption,
    out_: Annotated[Path, typer.Option("--out", help="The folder to write the model to; continued if begun.")],
    epochs: Annotated[
        float | None, typer.Option("--epochs", help="Passes over the pairs; 5 in the study (tilde.epochs).")
    ] = None,
    steps: Annotated[
        int | None, typer.Option("--steps", help="Steps, where --epochs is not given (tilde.steps).")
    ] = None,
    batch: Annotated[int | None, typer.Option("--batch", help="Pairs a step (tilde.batch).")] = None,
    learning_rate: Annotated[
        float | None, typer.Option("--learning-rate", help="At its highest, after warm-up (tilde.learning_rate).")
    ] = None,
    positives: Annotated[
        Path | None,
        typer.Option(
            "--positives",
            help="A TREC run over training queries, such as 'fuse --method borda' writes: its first documents count as "
            "relevant, too (tilde.positives).",
        ),
    ] = None,
    n_positives: Annotated[
        int | None,
        typer.Option("--n-positives", help="So many of them a query (tilde.n_positives).", show_default="10"),
    ] = None,
    layers: Annotated[
        int,
        typer.Option("--layers", help="Keep the backbone's first so many layers, whatever model.layers is; 0: all."),
    ] = 0,
    seed: Annotated[int | None, typer.Option("--seed", help="Of batches and dropout (run.seed).")] = None,
    given: RecipeOptions,
    json: JsonOption = False,
) -> None:
    """Train a masked language model to name the words of a document's queries, and those of a query's documents.

    It learns from qrels/train.tsv. Lengths and the schedule are settings ('lexigraft tilde train --set
    tilde.document_length=64'). Then: lexigraft tilde expand.
    """
    from lexigraft.learn.tilde.training import make_tilde

    show_messages()
    if steps is not None and epochs is None:
        epochs = 0.0  # of a recipe, which would be heard before steps
    settings = given.load({
        "tilde.epochs": epochs, "tilde.steps": steps, "tilde.batch": batch, "tilde.learning_rate": learning_rate,
        "tilde.positives": positives, "tilde.n_positives": n_positives, "model.layers": layers, "run.seed": seed,
    })  # fmt: skip
    facts = make_tilde(backbone, data, out_, settings, BarProgress())
    line = (
        f"{out_}: loss {facts['loss']:.2f} a pair after {facts['steps']:,} steps ({facts['first_loss']:.2f} at the "
        f"first), on {facts['labelled']:,} labelled pairs and {facts['added']:,} others"
    )
    show(json, {"tilde": str(out_), **facts}, line)


@app.command()
@grouped
def expand(
    *,
    model: Annotated[Path, typer.Option("--model", help="A TILDE model of 'tilde train', or RUN/model/tilde.")],
    data: DataOption,
    out_: Annotated[Path, typer.Option("--out", help="The file to write (.jsonl).")],
    keep: Annotated[
        int | None,
        typer.Option(
            "--keep", help="Words added to a document, the likeliest first; 0: all (tilde.keep).", show_default="40"
        ),
    ] = None,
    top: Annotated[
        int | None,
        typer.Option(
            "--top",
            help="Terms looked at, before stop-words, pieces and the document's own are dropped (tilde.top).",
            show_default="200",
        ),
    ] = None,
    given: SettingsOptions,
    json: JsonOption = False,
) -> None:
    """Write for every document the words that a TILDE model adds to it.

    BM25 takes the file by 'expand doc2query', a learned model by --set model.expansions=FILE. If it is interrupted,
    the same command continues.
    """
    from lexigraft.learn.tilde.expansion import expand_collection

    show_messages()
    settings = given.load()
    keep, top = (settings.tilde.keep if keep is None else keep), (settings.tilde.top if top is None else top)
    facts = expand_collection(model, data, out_, keep, top, settings, BarProgress())
    show(
        json,
        {"expansions": str(out_), **facts},
        f"{out_}: {facts['documents']:,} documents; {facts['new_words']:.1f} new words each among the {top} likeliest "
        f"terms, {facts['kept_words']:.1f} of them kept",
        f"index with BM25: lexigraft expand doc2query --data {data} --generated {out_} --out FOLDER",
        f"train with them: lexigraft run --data {data} --out RUN --set model.expansions={out_}",
    )
