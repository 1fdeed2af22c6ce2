"""`lexigraft model fresh`: an encoder from scratch, of a chosen size, for a tokenizer of a corpus's own."""

from pathlib import Path
from typing import Annotated

import typer

from lexigraft.cli.console import BarProgress, show, show_messages
from lexigraft.cli.given_settings import SettingsOptions
from lexigraft.cli.option_groups import grouped
from lexigraft.cli.options import JsonOption
from lexigraft.core.errors import SettingError


@grouped
def fresh(
    *,
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
    given: SettingsOptions,
    json: JsonOption = False,
) -> None:
    """Draw an encoder of any size, untrained, for a tokenizer of a corpus's own; then: lexigraft model mlm."""
    from lexigraft.learn.fresh_backbone import make_fresh_backbone

    show_messages()
    settings = given.load({
        "backbone.tokenizer": tokenizer, "backbone.pieces": pieces, "backbone.min_count": min_count,
        "model.layers": layers, "backbone.width": width, "backbone.heads": heads, "backbone.positions": positions,
        "run.seed": seed,
    })  # fmt: skip
    if bool(settings.backbone.tokenizer) == (texts is not None):
        raise SettingError("give --tokenizer, or --texts to learn one from, and not both")
    if settings.backbone.tokenizer and not (pieces is None and min_count is None):
        raise SettingError(
            "--pieces and --min-count are of a tokenizer that is learned; leave them out with --tokenizer"
        )
    facts = make_fresh_backbone(texts, out_, settings, BarProgress())
    line = (
        f"{out_}: {facts['pieces']:,} pieces, {facts['layers']} layers of width {facts['width']} with "
        f"{facts['heads']} heads, texts of up to {facts['positions']} subwords; untrained"
    )
    show(json, {"backbone": str(out_), **facts}, line)
