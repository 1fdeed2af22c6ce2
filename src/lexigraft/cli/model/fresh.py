"""`lexigraft model fresh`: an encoder from scratch, of a chosen size, for a tokenizer of a corpus's own."""

from pathlib import Path
from typing import Annotated

import typer

from lexigraft.cli.console import BarProgress, show_messages
from lexigraft.cli.model.training import show_facts
from lexigraft.cli.options import ConfigOption, JsonOption, SetOption
from lexigraft.core.errors import SettingError


def fresh(
    out_: Annotated[Path, typer.Option("--out", help="The folder to write, for --set model.backbone=DIR.")],
    tokenizer: Annotated[
        str | None, typer.Option("--tokenizer", help="A tokenizer folder, such as 'vocab wordpiece' makes.")
    ] = None,
    texts: Annotated[
        str | None,
        typer.Option("--texts", help="Or what to learn one from: a collection or texts, as --data elsewhere."),
    ] = None,
    pieces: Annotated[
        int | None, typer.Option("--pieces", help="Of a learned one, special tokens included; 8,000.")
    ] = None,
    min_count: Annotated[
        int | None, typer.Option("--min-count", help="How often a pair must occur to become a piece; 2.")
    ] = None,
    layers: Annotated[int | None, typer.Option("--layers", help="How many; 3.")] = None,
    width: Annotated[int | None, typer.Option("--width", help="Of hidden states; 256.")] = None,
    heads: Annotated[int | None, typer.Option("--heads", help="Of attention; 4.")] = None,
    positions: Annotated[int | None, typer.Option("--positions", help="Subwords a text may have; 512.")] = None,
    seed: Annotated[int | None, typer.Option("--seed", help="Of the weights that are drawn; 0.")] = None,
    config: ConfigOption = None,
    set_: SetOption = None,
    json: JsonOption = False,
) -> None:
    """Draw an encoder of any size, untrained, for a tokenizer of a corpus's own; then: lexigraft model mlm."""
    from lexigraft.core.config import load_settings
    from lexigraft.learn.fresh_backbone import make_fresh_backbone

    show_messages()
    given = {
        "backbone.tokenizer": None if tokenizer is None else repr(tokenizer), "backbone.pieces": pieces,
        "backbone.min_count": min_count, "model.layers": layers, "backbone.width": width, "backbone.heads": heads,
        "backbone.positions": positions, "run.seed": seed,
    }  # fmt: skip
    options = [f"{name}={value}" for name, value in given.items() if value is not None]
    settings = load_settings(config, [*(set_ or ()), *options])
    if bool(settings.backbone.tokenizer) == (texts is not None):
        raise SettingError("give --tokenizer, or --texts to learn one from, and not both")
    if settings.backbone.tokenizer and not (pieces is None and min_count is None):
        raise SettingError(
            "--pieces and --min-count are of a tokenizer that is learned; leave them out with --tokenizer"
        )
    facts = make_fresh_backbone(texts, out_, settings, BarProgress())
    line = (
        f"{facts['pieces']:,} pieces, {facts['layers']} layers of width {facts['width']} with {facts['heads']} heads, "
        f"texts of up to {facts['positions']} subwords; untrained"
    )
    show_facts({"backbone": str(out_), **facts}, line, out_, json)
