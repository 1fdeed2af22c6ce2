"""`lexigraft model mlm`: a backbone trained as a masked language model, with a head where it has none."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from lexigraft.cli.console import BarProgress, show, show_messages
from lexigraft.cli.given_settings import SettingsOptions
from lexigraft.cli.option_groups import grouped
from lexigraft.cli.options import JsonOption

USUAL_STEPS = 1000


@grouped
def mlm(
    *,
    backbone: Annotated[str, typer.Option("--backbone", help="embedded, a folder, or a hub name.")],
    texts: Annotated[str, typer.Option("--texts", help="What it reads: a collection or texts, as --data elsewhere.")],
    out_: Annotated[Path, typer.Option("--out", help="The folder to write, for --set model.backbone=DIR.")],
    steps: Annotated[int | None, typer.Option("--steps", help="How many; 1,000 unless told.")] = None,
    epochs: Annotated[float | None, typer.Option("--epochs", help="Passes over the texts, instead of steps.")] = None,
    batch: Annotated[int | None, typer.Option("--batch", help="Texts a step; 64.")] = None,
    learning_rate: Annotated[
        float | None, typer.Option("--learning-rate", help="At its highest, after warm-up; 0.0002.")
    ] = None,
    warmup: Annotated[int | None, typer.Option("--warmup", help="Steps until then; 100.")] = None,
    horizon: Annotated[
        int | None, typer.Option("--horizon", help="The step at which it is 0 again; 0, as usual: the last.")
    ] = None,
    length: Annotated[
        int | None, typer.Option("--length", help="Subwords read of a text, two special ones included; 64.")
    ] = None,
    layers: Annotated[int, typer.Option("--layers", min=0, help="Keep the first so many layers; 0: all.")] = 0,
    flops: Annotated[float | None, typer.Option("--flops", help="Weight of a FLOPS term (middle-training); 0.")] = None,
    sampled: Annotated[
        int | None, typer.Option("--sampled", help="So many subwords a step stand for all in the softmax; 0: all.")
    ] = None,
    seed: Annotated[int | None, typer.Option("--seed", help="Of masks, batches, draws and an added head; 0.")] = None,
    checkpoint_every: Annotated[
        int | None, typer.Option("--checkpoint-every", help="Steps between checkpoints; 250.")
    ] = None,
    given: SettingsOptions,
    json: JsonOption = False,
) -> None:
    """Train a backbone to name masked subwords: to add a head, or to bring it closer to a corpus.

    An option that is not given has the value of its setting in the section mlm.
    """
    from lexigraft.learn.model_mlm import make_masked_lm

    show_messages()
    settings = given.load({
        "mlm.steps": steps, "mlm.epochs": epochs, "mlm.batch": batch, "mlm.learning_rate": learning_rate,
        "mlm.warmup": warmup, "mlm.horizon": horizon, "mlm.length": length, "mlm.flops": flops,
        "mlm.sampled": sampled, "mlm.checkpoint_every": checkpoint_every, "run.seed": seed,
    })  # fmt: skip
    if steps is None and epochs is None and not settings.mlm.trains:
        settings = replace(settings, mlm=replace(settings.mlm, steps=USUAL_STEPS))
    facts = make_masked_lm(backbone, texts, out_, settings, layers, BarProgress())
    show(json, {"masked_lm": str(out_), **facts}, f"{out_}: {_line(facts)}")


def _line(facts: dict[str, Any]) -> str:
    among = "" if "accuracy" in facts else ", among those drawn,"
    named = facts["accuracy"] if "accuracy" in facts else facts["sampled_accuracy"]
    return (
        f"loss {facts['loss']:.3f}, {named:.1%} of masked subwords named{among} after {facts['steps']:,} steps; "
        "its " + ("own head, trained further" if facts["head"] == "own" else "head was added")
    )
