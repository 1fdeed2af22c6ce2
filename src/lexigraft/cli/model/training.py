"""`pretrain`, `finetune` and `encode`: the learned model, one stage at a time."""

import json as json_library
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lexigraft.cli.console import BarProgress, show, show_messages
from lexigraft.cli.given_settings import ReadingOptions
from lexigraft.cli.option_groups import grouped
from lexigraft.cli.options import DataOption, JsonOption, ReplaceOption
from lexigraft.cli.shard_options import ShardOptions
from lexigraft.cli.stage import FinetuneOptions, StageOptions
from lexigraft.core.plain_files import read_plain_file
from lexigraft.core.types import counted_rows

if TYPE_CHECKING:
    from lexigraft.stages.standalone import Write

ModelOption = Annotated[Path, typer.Option("--model", help="A fine-tuned or imported model, or a run.")]
VectorsOut = Annotated[Path, typer.Option("--out", help="The folder to write the vectors to.")]

ExpansionsOption = Annotated[
    Path | None,
    typer.Option(
        "--expansions",
        help='What is added to the documents, for a model that was trained with it: {"id", "text"} a line (.jsonl).',
    ),
]


@grouped
def pretrain(given: StageOptions, json: JsonOption = False) -> None:
    """Graft the vocabulary onto the backbone and teach it to name masked terms (EMLM)."""
    folder = given.make("pretrain")
    last = _kept_step(folder)
    line = f"loss {last['loss']:.3f}, {last['accuracy']:.1%} of masked terms named" if last else "not trained"
    if "first_accuracy" in last:
        line += (
            f"; kept apart, {last['first_accuracy']:.1%} by first and {last['later_accuracy']:.1%} by later subwords"
        )
    show(json, {"model": str(folder), **last}, f"{folder}: {line}")


@grouped
def finetune(given: FinetuneOptions, json: JsonOption = False) -> None:
    """Teach the pre-trained model to rank, on qrels/train.tsv."""
    folder = given.make("finetune")
    last = _kept_step(folder)
    measured = f", validation R@10 {last['R@10']:.3f}" if "R@10" in last else ""
    line = (
        f"loss {last['loss']:.3f}, L0_q {last['L0_q']:.0f}, L0_d {last['L0_d']:.0f}{measured}"
        if last
        else "not trained"
    )
    show(json, {"model": str(folder), **last}, f"{folder}: {line}")


@grouped
def encode(
    *,
    data: DataOption,
    model: ModelOption,
    out_: VectorsOut,
    expansions: ExpansionsOption = None,
    given: ReadingOptions,
    by: ShardOptions,
    replace: ReplaceOption = False,
    json: JsonOption = False,
) -> None:
    """Write any collection as vectors of a model; index them with: lexigraft index --vectors."""
    from lexigraft.stages.standalone import encode as encode_collection
    from lexigraft.stages.standalone import encode_at_once

    show_messages()
    settings = given.load({"model.expansions": expansions})
    write: Write = encode_at_once
    if (where := by.where()) is not None:
        from lexigraft.shards.encoding import encode_by_shards

        write = encode_by_shards(where)
    meta = encode_collection(data, model, out_, settings, BarProgress(), replace, write=write)
    facts = {"vectors": str(out_), "documents": meta.n_rows, "passages": meta.passages, "terms": meta.n_terms}
    show(json, facts, f"{out_}: {counted_rows(meta.n_rows, meta.passages)} over {meta.n_terms:,} terms")


def _kept_step(folder: Path) -> dict[str, float]:
    """The values of the step whose weights were kept; empty where no step was taken."""
    history: list[dict[str, float]] = json_library.loads(read_plain_file(folder / "history.json"))
    step = json_library.loads(read_plain_file(folder / "kept.json"))["step"]
    return {"step": step, **history[step - 1]} if history else {}
