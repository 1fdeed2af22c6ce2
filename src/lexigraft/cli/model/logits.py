"""`lexigraft model logits`: statistics of a model's logits before pooling."""

from pathlib import Path
from typing import Annotated, Any

import typer

from lexigraft.cli.console import BarProgress, print_json, print_line, print_table, show_messages
from lexigraft.cli.given_settings import SettingsOptions
from lexigraft.cli.option_groups import grouped
from lexigraft.cli.options import DataOption, JsonOption


@grouped
def logits(
    *,
    model: Annotated[Path, typer.Option("--model", help="A model, such as RUN/model/pretrained, or a run.")],
    data: DataOption,
    texts: Annotated[int, typer.Option("--texts", min=0, help="So many documents, drawn once; 0: all.")] = 8000,
    length: Annotated[
        int, typer.Option("--length", min=0, help="Subwords read of each; 0: as many as in training.")
    ] = 0,
    out_: Annotated[Path | None, typer.Option("--out", help="A file to write the numbers to, as JSON.")] = None,
    given: SettingsOptions,
    json: JsonOption = False,
) -> None:
    """Measure a model's raw logits: how high and how far apart, by document and by term."""
    from lexigraft.learn.model_logits import measure

    show_messages()
    facts = measure(model, data, texts, length, given.load(), out_, BarProgress())
    if json:
        print_json(facts)
    else:
        _print(facts)


def _print(facts: dict[str, Any]) -> None:
    tops = ("10", "100", "all")
    rows = [
        (f"doc-score-{kind}", *(f"{facts[f'doc-score-{kind}@{top}']:.4f}" for top in tops)) for kind in ("avg", "std")
    ]
    title = (
        f"{facts['model']}: {facts['tokens']:,} tokens of {facts['documents']:,} documents, {facts['terms']:,} terms"
    )
    print_table(
        title, ("highest logits of a token", *(f"top {top}" for top in tops)), rows, left=("highest logits of a token",)
    )
    print_line(f"logit-score-std {facts['logit-score-std']:.4f}")
    print_line(f"non-neg-terms {facts['non-neg-terms-avg']:,.1f} on average, std {facts['non-neg-terms-std']:,.1f}")
