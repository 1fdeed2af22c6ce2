"""`vocab learn`, `vocab unigrams`, `vocab wordpiece`, `vocab stats` and `vocab compare`."""

import json as json_library
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from lexigraft.cli.console import BarProgress, print_json, print_line, show_messages
from lexigraft.cli.model.training import AgainOption, show_facts, train_stage
from lexigraft.cli.options import (
    ConfigOption,
    DataOption,
    JsonOption,
    OnDuplicateOption,
    OutOption,
    RecipeOption,
    SetOption,
    overrides,
)
from lexigraft.cli.setting_options import as_overrides, override_option, setting_option
from lexigraft.core.settings import BackboneSettings

VOCABULARY = "A learned vocabulary, a run, a tokenizer folder, or a text file with one term a line."
TryOption = Annotated[
    str | None,
    typer.Option("--data", help="A collection to try it on, given as for 'run'."),
]
StudyOut = Annotated[
    Path | None, typer.Option("--out", help="A folder to write the numbers and a picture to; nothing where not given.")
]

app = typer.Typer(no_args_is_help=True, help="Learn vocabularies and look at them.")


@app.command()
def learn(
    data: DataOption,
    run: OutOption,
    recipe: RecipeOption = None,
    config: ConfigOption = None,
    set_: SetOption = None,
    again: AgainOption = False,
    json: JsonOption = False,
) -> None:
    """Learn a run's vocabulary: the collection's own terms, the most frequent first."""
    folder = train_stage("vocabulary", data, run, config, set_, again, recipe)
    facts = json_library.loads((folder / "vocabulary.json").read_text(encoding="utf-8"))
    show_facts({"vocabulary": str(folder), **facts}, _line(facts), folder, json)


@app.command()
def unigrams(
    data: DataOption,
    out_: Annotated[Path, typer.Option("--out", help="The folder to write the vocabulary to.")],
    size: Annotated[int | None, override_option("vocab.size")] = None,
    min_count: Annotated[int | None, override_option("vocab.min_count")] = None,
    config: ConfigOption = None,
    set_: SetOption = None,
    on_duplicate: OnDuplicateOption = None,
    json: JsonOption = False,
) -> None:
    """Learn a vocabulary of any texts, without a run: to look at, or for runs by --set vocab.source=DIR."""
    from lexigraft.core.config import load_settings
    from lexigraft.learn.unigrams import make_unigrams

    show_messages()
    given = {"vocab.size": size, "vocab.min_count": min_count}
    settings = load_settings(config, [*overrides(set_, on_duplicate), *as_overrides(given)])
    facts = make_unigrams(data, out_, settings, BarProgress())
    show_facts({"vocabulary": str(out_), **facts}, _line(facts), out_, json)


def _line(facts: dict[str, Any]) -> str:
    if facts.get("subwords"):
        return f"{facts['terms']:,} terms: the backbone's own subwords, counted in {facts['documents']:,} documents"
    return (
        f"{facts['terms']:,} terms for {facts['forms']:,} of {facts['distinct_words']:,} distinct words; they cover "
        f"{facts['coverage']:.1%} of the text"
    )


@app.command()
def wordpiece(
    data: DataOption,
    out_: Annotated[Path, typer.Option("--out", help="The folder to write the tokenizer to.")],
    size: Annotated[int, setting_option(BackboneSettings, "pieces", "--size")] = 30_000,
    min_count: Annotated[int, setting_option(BackboneSettings, "min_count")] = BackboneSettings.min_count,
    config: ConfigOption = None,
    set_: SetOption = None,
    json: JsonOption = False,
) -> None:
    """Learn a WordPiece tokenizer of a collection's own, a folder that transformers loads."""
    from lexigraft.core.config import load_settings
    from lexigraft.learn.wordpiece import make_tokenizer

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
    from lexigraft.cli.vocab.tables import print_stats
    from lexigraft.comparison import vocabulary_study
    from lexigraft.core.config import load_settings

    show_messages()
    facts = vocabulary_study.stats(vocabulary, data, out_, load_settings(config, set_ or ()), BarProgress())
    _show_study(facts, lambda: print_stats([facts]), out_, json)


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
    from lexigraft.cli.vocab.tables import print_comparison
    from lexigraft.comparison import vocabulary_study
    from lexigraft.core.config import load_settings

    show_messages()
    facts = vocabulary_study.compare(a, b, data, out_, load_settings(config, set_ or ()), BarProgress())
    _show_study(facts, lambda: print_comparison(facts), out_, json)


def _show_study(facts: dict[str, Any], print_tables: Callable[[], None], out: Path | None, as_json: bool) -> None:
    if as_json:
        print_json(facts)
        return
    print_tables()
    if out is not None:
        print_line(f"written to {out}")
