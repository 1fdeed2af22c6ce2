"""`index graft`: the documents of a live index of BM25 get words beside their own."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from lexigraft.cli.console import BarProgress, print_json, print_line, show_messages
from lexigraft.cli.index.live import LiveArgument, WaitOption
from lexigraft.cli.options import ConfigOption, JsonOption, SetOption
from lexigraft.cli.setting_options import as_overrides
from lexigraft.core.types import counted_rows


def graft(
    live: LiveArgument,
    vectors: Annotated[
        Path | None,
        typer.Option(
            "--vectors",
            help="A file with a vector of each document, made by any encoder: .npy in the order in which they were "
            "added, or Parquet with their ids. Without, a sentence encoder makes them.",
        ),
    ] = None,
    cost: Annotated[
        float | None,
        typer.Option("--cost", help="What a search may cost, as a share of BM25's (prune.cost).", show_default="1"),
    ] = None,
    config: ConfigOption = None,
    set_: SetOption = None,
    wait: WaitOption = False,
    json: JsonOption = False,
) -> None:
    """Give the documents of a live index of BM25 words beside their own: such as documents of near vectors have, and
    such as a regression reads off their vector. Queries stay plain words. Searches find by BM25 until it is done; what
    a stopped call has encoded is not encoded again."""
    from lexigraft.core.config import load_settings
    from lexigraft.retrieve.live_changes import holds_passages, status
    from lexigraft.retrieve.live_grafting import graft_live

    show_messages()
    settings = load_settings(config, [*(set_ or ()), *as_overrides({"prune.cost": cost})])
    given = vectors or (Path(settings.grafted.vectors) if settings.grafted.vectors else None)
    done = graft_live(live, given, settings, wait, BarProgress())
    if json:
        print_json({"live": str(live), **asdict(done), "graft": status(live)["graft"]})
        return
    (segment,) = status(live)["segments"]
    print_line(
        f"{live}: {counted_rows(done.n_rows, holds_passages(live))} grafted as segment {done.into}, with "
        f"{segment['postings']:,} postings"
    )
