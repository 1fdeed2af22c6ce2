"""`mine`: hard negatives for fine-tuning, by searching an index with training queries."""

from pathlib import Path
from typing import Annotated

import typer

from lexigraft.cli.console import BarProgress, show, show_messages
from lexigraft.cli.given_settings import SettingsOptions
from lexigraft.cli.option_groups import grouped
from lexigraft.cli.options import DataOption, IndexOption, JsonOption, SystemOption
from lexigraft.core.errors import SettingError


@grouped
def mine(
    *,
    data: DataOption,
    out_: Annotated[Path, typer.Option("--out", help="The TREC run to write.")],
    run: Annotated[Path | None, typer.Option("--run", help="The folder of a run whose index is searched.")] = None,
    index: IndexOption = None,
    system: SystemOption = None,
    depth: Annotated[int, typer.Option("--depth", min=1, help="How many negatives a query.")] = 100,
    given: SettingsOptions,
    json: JsonOption = False,
) -> None:
    """Find hard negatives: what an index ranks high for training queries, and qrels/train.tsv does not call relevant.

    Train with them: `lexigraft finetune ... --set finetune.negatives=FILE --set finetune.n_negatives=1`.
    """
    from lexigraft.learn.mining import mine_index, mine_run

    show_messages()
    settings = given.load()
    if run is not None and index is None:
        found = mine_run(run, system, data, out_, depth, settings, BarProgress())
    elif index is not None and run is None:
        if system is not None:
            raise SettingError("--system chooses among the systems of a --run; an --index has only one")
        found = mine_index(index, data, out_, depth, settings, BarProgress())
    else:
        raise SettingError("give either --run RUN or --index INDEX")
    facts = {"queries": found.queries, "documents": found.documents, "without": found.without}
    without = f" ({found.without:,} queries found none)" if found.without else ""
    show(
        json,
        {"run": str(out_), "index": str(found.index_path), **facts},
        f"{out_}: {found.documents:,} negatives of {found.queries:,} training queries{without}",
        f"train with them: --set finetune.negatives={out_} --set finetune.n_negatives=1",
    )
