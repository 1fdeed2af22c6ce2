"""`lexigraft tilde`: documents expanded by the words that a masked language model predicts for them."""

from pathlib import Path
from typing import Annotated

import typer

from lexigraft.cli.console import BarProgress, show, show_messages
from lexigraft.cli.given_settings import RecipeOptions, SettingsOptions
from lexigraft.cli.option_groups import grouped
from lexigraft.cli.options import DataOption, JsonOption
from lexigraft.cli.setting_options import override_option

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
    epochs: Annotated[float | None, override_option("tilde.epochs")] = None,
    steps: Annotated[int | None, override_option("tilde.steps")] = None,
    batch: Annotated[int | None, override_option("tilde.batch")] = None,
    learning_rate: Annotated[float | None, override_option("tilde.learning_rate")] = None,
    positives: Annotated[Path | None, override_option("tilde.positives")] = None,
    n_positives: Annotated[int | None, override_option("tilde.n_positives")] = None,
    layers: Annotated[
        int,
        typer.Option("--layers", help="Keep the backbone's first so many layers, whatever model.layers is; 0: all."),
    ] = 0,
    seed: Annotated[int | None, override_option("run.seed")] = None,
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
    keep: Annotated[int | None, override_option("tilde.keep")] = None,
    top: Annotated[int | None, override_option("tilde.top")] = None,
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
