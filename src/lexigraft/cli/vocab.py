"""`vocab learn`, `vocab wordpiece`, `vocab stats` and `vocab compare`."""

import json as json_library
from pathlib import Path
from typing import Annotated

import typer

from lexigraft.cli.console import BarProgress, print_json, print_line, show_messages
from lexigraft.cli.model import AgainOption, show_facts, train_stage
from lexigraft.cli.options import ConfigOption, DataOption, JsonOption, OutOption, SetOption

VOCABULARY = "A learned vocabulary, a run, a tokenizer folder, or a text file with one term a line."
TryOption = Annotated[
    str | None,
    typer.Option("--data", help="A collection to try it on: a folder in BEIR layout, or 'pydocs'."),
]
StudyOut = Annotated[
    Path | None, typer.Option("--out", help="A folder to write the numbers and a picture to; nothing where not given.")
]

app = typer.Typer(no_args_is_help=True, help="Learn vocabularies and look at them.")


@app.command()
def learn(
    data: DataOption,
    run: OutOption,
    config: ConfigOption = None,
    set_: SetOption = None,
    again: AgainOption = False,
    json: JsonOption = False,
) -> None:
    """Learn a run's vocabulary: the collection's own terms, the most frequent first."""
    folder = train_stage("vocabulary", data, run, config, set_, again)
    facts = json_library.loads((folder / "vocabulary.json").read_text(encoding="utf-8"))
    line = (
        f"{facts['terms']:,} terms for {facts['forms']:,} of {facts['distinct_words']:,} distinct words; they cover "
        f"{facts['coverage']:.1%} of the text"
    )
    show_facts({"vocabulary": str(folder), **facts}, line, folder, json)


@app.command()
def wordpiece(
    data: DataOption,
    out_: Annotated[Path, typer.Option("--out", help="The folder to write the tokenizer to.")],
    size: Annotated[int, typer.Option("--size", min=1, help="How many pieces, special tokens included.")] = 30_000,
    min_count: Annotated[
        int, typer.Option("--min-count", min=1, help="How often a pair must occur to become a piece.")
    ] = 2,
    config: ConfigOption = None,
    set_: SetOption = None,
    json: JsonOption = False,
) -> None:
    """Learn a WordPiece tokenizer of a collection's own, a folder that transformers loads."""
    from lexigraft.core.config import load_settings
    from lexigraft.pipeline.wordpiece import make_tokenizer

    show_messages()
    facts = make_tokenizer(data, out_, load_settings(config, set_ or ()), size, min_count, BarProgress())
    line = (
        f"{facts['pieces']:,} pieces of {facts['distinct_words']:,} distinct words; they spell {facts['coverage']:.1%} "
        "of the text"
    )
    show_facts({"tokenizer": str(out_), **facts}, line, out_, json)


@app.command()
def stats(
    vocabulary: Annotated[Path, typer.Argument(help=VOCABULARY)],
    data: TryOption = None,
    out_: StudyOut = None,
    config: ConfigOption = None,
    set_: SetOption = None,
    json: JsonOption = False,
) -> None:
    """Count a vocabulary: size, scripts, frequencies; with --data, what it makes of queries and documents."""
    from lexigraft.cli.vocab_tables import print_stats
    from lexigraft.core.config import load_settings
    from lexigraft.pipeline import vocabulary_study

    show_messages()
    facts = vocabulary_study.stats(vocabulary, data, out_, load_settings(config, set_ or ()), BarProgress())
    if json:
        print_json(facts)
        return
    print_stats([facts])
    if out_ is not None:
        print_line(f"written to {out_}")


@app.command()
def compare(
    a: Annotated[Path, typer.Argument(help=VOCABULARY)],
    b: Annotated[Path, typer.Argument(help="Another one.")],
    data: TryOption = None,
    out_: StudyOut = None,
    config: ConfigOption = None,
    set_: SetOption = None,
    json: JsonOption = False,
) -> None:
    """Compare two vocabularies: what they share, and what only one has."""
    from lexigraft.cli.vocab_tables import print_comparison
    from lexigraft.core.config import load_settings
    from lexigraft.pipeline import vocabulary_study

    show_messages()
    facts = vocabulary_study.compare(a, b, data, out_, load_settings(config, set_ or ()), BarProgress())
    if json:
        print_json(facts)
        return
    print_comparison(facts)
    if out_ is not None:
        print_line(f"written to {out_}")
