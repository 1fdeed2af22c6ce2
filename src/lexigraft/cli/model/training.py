"""`pretrain`, `finetune` and `encode`: the learned model, one stage at a time."""

import json as json_library
from pathlib import Path
from typing import Annotated, Any

import typer

from lexigraft.cli.console import BarProgress, out, print_json, show_messages
from lexigraft.cli.options import (
    AlphaOption,
    ConfigOption,
    DataOption,
    JsonOption,
    OnDuplicateOption,
    OutOption,
    RecipeOption,
    SetOption,
    overrides,
)

AgainOption = Annotated[bool, typer.Option("--again", help="Do this stage again although it is done.")]
ModelOption = Annotated[Path, typer.Option("--model", help="A fine-tuned or imported model, or a run.")]
VectorsOut = Annotated[Path, typer.Option("--out", help="The folder to write the vectors to.")]

ExpansionsOption = Annotated[
    Path | None,
    typer.Option(
        "--expansions",
        help='What is added to the documents, for a model that was trained with it: {"id", "text"} a line (.jsonl).',
    ),
]


def pretrain(
    data: DataOption,
    run: OutOption,
    recipe: RecipeOption = None,
    config: ConfigOption = None,
    set_: SetOption = None,
    again: AgainOption = False,
    json: JsonOption = False,
) -> None:
    """Graft the vocabulary onto the backbone and teach it to name masked terms (EMLM)."""
    folder = train_stage("pretrain", data, run, config, set_, again, recipe)
    last = _kept_step(folder)
    line = f"loss {last['loss']:.3f}, {last['accuracy']:.1%} of masked terms named" if last else "not trained"
    if "first_accuracy" in last:
        line += (
            f"; kept apart, {last['first_accuracy']:.1%} by first and {last['later_accuracy']:.1%} by later subwords"
        )
    show_facts({"model": str(folder), **last}, line, folder, json)


def finetune(
    data: DataOption,
    run: OutOption,
    recipe: RecipeOption = None,
    config: ConfigOption = None,
    set_: SetOption = None,
    alpha: AlphaOption = None,
    again: AgainOption = False,
    json: JsonOption = False,
) -> None:
    """Teach the pre-trained model to rank, on qrels/train.tsv."""
    folder = train_stage("finetune", data, run, config, overrides(set_, alpha=alpha), again, recipe)
    last = _kept_step(folder)
    measured = f", validation R@10 {last['R@10']:.3f}" if "R@10" in last else ""
    line = (
        f"loss {last['loss']:.3f}, L0_q {last['L0_q']:.0f}, L0_d {last['L0_d']:.0f}{measured}"
        if last
        else "not trained"
    )
    show_facts({"model": str(folder), **last}, line, folder, json)


def encode(
    data: DataOption,
    model: ModelOption,
    out_: VectorsOut,
    expansions: ExpansionsOption = None,
    config: ConfigOption = None,
    set_: SetOption = None,
    on_duplicate: OnDuplicateOption = None,
    json: JsonOption = False,
) -> None:
    """Write any collection as vectors of a model; index them with: lexigraft index --vectors."""
    from lexigraft.core.config import load_settings
    from lexigraft.stages.standalone import encode as encode_collection

    show_messages()
    given = [f"model.expansions={json_library.dumps(str(expansions))}"] if expansions is not None else []
    settings = load_settings(config, [*overrides(set_, on_duplicate), *given])
    meta = encode_collection(data, model, out_, settings, BarProgress())
    facts = {"vectors": str(out_), "documents": meta.n_rows, "terms": meta.n_terms}
    show_facts(facts, f"{meta.n_rows:,} documents over {meta.n_terms:,} terms", out_, json)


def train_stage(
    stage: str,
    data: str,
    run: Path,
    config: Path | None,
    set_: list[str] | None,
    again: bool,
    recipe: str | None = None,
) -> Path:
    """Make the learned model of a run as far as `stage`; returns the folder of what that stage leaves."""
    from lexigraft.core.config import load_settings
    from lexigraft.whole_run import train_until

    show_messages()
    settings = load_settings(config, set_ or (), recipe)
    return train_until(data, run, settings, stage, stage if again else None, BarProgress())


def _kept_step(folder: Path) -> dict[str, float]:
    """What the weights that were kept had; nothing where no step was taken."""
    history: list[dict[str, float]] = json_library.loads((folder / "history.json").read_text(encoding="utf-8"))
    step = json_library.loads((folder / "kept.json").read_text(encoding="utf-8"))["step"]
    return {"step": step, **history[step - 1]} if history else {}


def show_facts(facts: dict[str, Any], line: str, folder: Path, as_json: bool) -> None:
    """What a stage left: one line, or the facts as JSON."""
    if as_json:
        print_json(facts)
    else:
        out.print(f"{folder}: {line}", soft_wrap=True)
