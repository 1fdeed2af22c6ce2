"""`model diagnose`: a head's norms, what it makes of texts, and what that predicts."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lexigraft.cli.console import BarProgress, print_json, print_line, print_table, show_messages
from lexigraft.cli.given_settings import RecipeOptions
from lexigraft.cli.option_groups import grouped
from lexigraft.cli.options import JsonOption
from lexigraft.core.errors import SettingError

if TYPE_CHECKING:
    from lexigraft.learn.diagnosis import Diagnosis
    from lexigraft.train.activations import Activations


@grouped
def diagnose(
    *,
    model: Annotated[
        Path | None, typer.Argument(help="A model such as RUN/model/pretrained, or a run.", metavar="MODEL_OR_RUN")
    ] = None,
    backbone: Annotated[
        str | None, typer.Option("--backbone", help="A backbone instead: 'embedded', a folder, or a hub name.")
    ] = None,
    data: Annotated[
        str | None, typer.Option("--data", help="A collection with training judgements to try it on, as for 'run'.")
    ] = None,
    pairs: Annotated[int, typer.Option("--pairs", min=2, help="How many training pairs of it.")] = 256,
    given: RecipeOptions,
    json: JsonOption = False,
) -> None:
    """Say whether a head is fit to be trained: its norms and, with --data, its first weights and loss."""
    if (model is None) == (backbone is None):
        raise SettingError("give a model or a run, or --backbone, and not both")
    from lexigraft.learn.diagnosis import diagnose_backbone, diagnose_model

    show_messages()
    settings = given.load()
    if model is not None:
        found = diagnose_model(model, data, settings, pairs, BarProgress())
    else:
        assert backbone is not None, "one of the two"
        found = diagnose_backbone(backbone, data, settings, pairs, BarProgress())
    if json:
        print_json(asdict(found))
    else:
        _show(found)


def _show(found: "Diagnosis") -> None:
    tied = "tied to the word embeddings" if found.tied else "not tied"
    print_line(f"{found.name}: {found.head} head, {found.n_terms:,} terms of width {found.width}, {tied}", style="bold")
    norms = found.norms
    print_line(f"row norm: mean {norms.mean_norm:.3f}, maximum {norms.max_norm:.3f}; anisotropy {norms.anisotropy:.3f}")
    if found.activations is not None:
        one = found.activations
        columns = ("alpha", "mean norm", "positive logits", "mean weight", "max weight", "L0_q", "L0_d", "first loss")
        rows = [_row(a, norms.mean_norm, it) for a, it in (found.by_alpha or {1.0: one}).items()]
        chance = f"log({one.n_pairs}) = {one.chance_loss:.2f}"
        print_table(f"{one.n_pairs} training pairs; equal scores have a loss of {chance}", columns, rows)
    for sentence in found.predictions:
        print_line(sentence)


def _row(alpha: float, mean_norm: float, found: "Activations") -> list[str]:
    numbers = (found.mean_weight, found.max_weight, found.l0_q, found.l0_d, found.first_loss)
    return [f"{alpha:g}", f"{mean_norm / alpha:.3f}", f"{found.positive_share:.2%}", *(f"{n:.2f}" for n in numbers)]
