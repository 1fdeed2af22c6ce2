"""`lexigraft model fresh`: an encoder from scratch, of a chosen size, for a tokenizer of a corpus's own."""

from pathlib import Path
from typing import Annotated

import typer

from lexigraft.cli.console import BarProgress, show, show_messages
from lexigraft.cli.given_settings import SettingsOptions
from lexigraft.cli.option_groups import grouped
from lexigraft.cli.options import JsonOption
from lexigraft.cli.setting_options import override_option
from lexigraft.core.errors import SettingError
from lexigraft.core.settings import ModelSettings


@grouped
def fresh(
    *,
    out_: Annotated[Path, typer.Option("--out", help="The folder to write, for --set model.backbone=DIR.")],
    tokenizer: Annotated[str | None, override_option("backbone.tokenizer")] = None,
    texts: Annotated[
        str | None,
        typer.Option("--texts", help="Or what to learn one from: a collection or texts, as --data elsewhere."),
    ] = None,
    pieces: Annotated[int | None, override_option("backbone.pieces")] = None,
    min_count: Annotated[int | None, override_option("backbone.min_count")] = None,
    layers: Annotated[
        int | None, typer.Option("--layers", help="How many (model.layers).", show_default=str(ModelSettings.layers))
    ] = None,
    width: Annotated[int | None, override_option("backbone.width")] = None,
    heads: Annotated[int | None, override_option("backbone.heads")] = None,
    positions: Annotated[int | None, override_option("backbone.positions")] = None,
    seed: Annotated[int | None, override_option("run.seed")] = None,
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
