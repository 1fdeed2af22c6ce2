"""`lexigraft model mlm`: a backbone trained as a masked language model, with a head where it has none."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from lexigraft.cli.console import BarProgress, show, show_messages
from lexigraft.cli.given_settings import SettingsOptions
from lexigraft.cli.option_groups import grouped
from lexigraft.cli.options import JsonOption
from lexigraft.cli.setting_options import override_option

USUAL_STEPS = 1000


@grouped
def mlm(
    *,
    backbone: Annotated[str, typer.Option("--backbone", help="embedded, a folder, or a hub name.")],
    texts: Annotated[str, typer.Option("--texts", help="What it reads: a collection or texts, as --data elsewhere.")],
    out_: Annotated[Path, typer.Option("--out", help="The folder to write, for --set model.backbone=DIR.")],
    steps: Annotated[int | None, override_option("mlm.steps", default=f"{USUAL_STEPS} without --epochs")] = None,
    epochs: Annotated[float | None, override_option("mlm.epochs")] = None,
    batch: Annotated[int | None, override_option("mlm.batch")] = None,
    learning_rate: Annotated[float | None, override_option("mlm.learning_rate")] = None,
    warmup: Annotated[int | None, override_option("mlm.warmup")] = None,
    horizon: Annotated[int | None, override_option("mlm.horizon")] = None,
    length: Annotated[int | None, override_option("mlm.length")] = None,
    layers: Annotated[int, typer.Option("--layers", min=0, help="Keep the first so many layers; 0: all.")] = 0,
    flops: Annotated[float | None, override_option("mlm.flops")] = None,
    sampled: Annotated[int | None, override_option("mlm.sampled")] = None,
    seed: Annotated[int | None, override_option("run.seed")] = None,
    checkpoint_every: Annotated[int | None, override_option("mlm.checkpoint_every")] = None,
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
