"""`lexigraft model mlm`: a backbone trained as a masked language model, with a head where it has none."""

from pathlib import Path
from typing import Annotated

import typer

from lexigraft.cli.console import BarProgress, show_messages
from lexigraft.cli.model import show_facts
from lexigraft.cli.options import ConfigOption, JsonOption, SetOption


def mlm(
    backbone: Annotated[str, typer.Option("--backbone", help="embedded, a folder, or a hub name.")],
    texts: Annotated[str, typer.Option("--texts", help="What it reads: a collection or texts, as --data elsewhere.")],
    out_: Annotated[Path, typer.Option("--out", help="The folder to write, for --set model.backbone=DIR.")],
    steps: Annotated[int, typer.Option("--steps", help="How many.")] = 1000,
    batch: Annotated[int, typer.Option("--batch", help="Texts a step.")] = 64,
    learning_rate: Annotated[float, typer.Option("--learning-rate", help="At its highest, after warm-up.")] = 2e-4,
    warmup: Annotated[int, typer.Option("--warmup", help="Steps until then.")] = 100,
    horizon: Annotated[int, typer.Option("--horizon", help="The step at which it is 0 again; 0: the last.")] = 0,
    length: Annotated[int, typer.Option("--length", help="Subwords read of a text, two special ones included.")] = 64,
    layers: Annotated[int, typer.Option("--layers", help="Keep the first so many layers; 0: all.")] = 0,
    flops: Annotated[float, typer.Option("--flops", help="Weight of a FLOPS term (middle-training).")] = 0.0,
    seed: Annotated[int, typer.Option("--seed", help="Of masks, batches and an added head.")] = 0,
    checkpoint_every: Annotated[int, typer.Option("--checkpoint-every", help="Steps between checkpoints.")] = 250,
    config: ConfigOption = None,
    set_: SetOption = None,
    json: JsonOption = False,
) -> None:
    """Train a backbone to name masked subwords: to add a head, or to bring it closer to a corpus."""
    from lexigraft.core.config import load_settings
    from lexigraft.pipeline.model_mlm import make_masked_lm
    from lexigraft.train.mlm import MlmSettings

    show_messages()
    wanted = MlmSettings(
        steps, batch, learning_rate, warmup, horizon, length, layers, flops, checkpoint_every, seed
    )  # fmt: skip
    facts = make_masked_lm(backbone, texts, out_, wanted, load_settings(config, set_ or ()), BarProgress())
    line = (
        f"loss {facts['loss']:.3f}, {facts['accuracy']:.1%} of masked subwords named after {facts['steps']:,} steps; "
        "its " + ("own head, trained further" if facts["head"] == "own" else "head was added")
    )
    show_facts({"masked_lm": str(out_), **facts}, line, out_, json)
