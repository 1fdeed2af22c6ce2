"""`vocab learn`, `vocab unigrams`, `vocab wordpiece`, `vocab stats` and `vocab compare`."""

import json as json_library
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lexigraft.cli.console import BarProgress, print_json, print_line, show, show_messages
from lexigraft.cli.given_settings import Loading, ReadingOptions, SettingsOptions
from lexigraft.cli.option_groups import grouped
from lexigraft.cli.options import ConfigOption, DataOption, JsonOption, SetOption
from lexigraft.cli.setting_options import override_option, setting_option
from lexigraft.cli.shard_options import ShardOptions
from lexigraft.cli.stage import StageOptions
from lexigraft.core.plain_files import read_plain_file
from lexigraft.core.settings import BackboneSettings

if TYPE_CHECKING:
    from lexigraft.learn.unigrams import Learn

VOCABULARY = "A learned vocabulary, a run, a tokenizer folder, or a text file with one term a line."
TryOption = Annotated[
    str | None,
    typer.Option("--data", help="A collection to try it on, given as for 'run'."),
]
StudyOut = Annotated[
    Path | None, typer.Option("--out", help="A folder to write the numbers and a picture to; nothing where not given.")
]

LEARN = "Learn one"
LOOK = "Look at them"

app = typer.Typer(no_args_is_help=True, help="Learn vocabularies and look at them.")


@app.command(rich_help_panel=LEARN)
@grouped
def learn(given: StageOptions, json: JsonOption = False) -> None:
    """Learn a run's vocabulary: the collection's own terms, the most frequent first."""
    folder = given.make("vocabulary")
    facts = json_library.loads(read_plain_file(folder / "vocabulary.json"))
    show(json, {"vocabulary": str(folder), **facts}, f"{folder}: {_line(facts)}")


@app.command(rich_help_panel=LEARN)
@grouped
def unigrams(
    *,
    data: DataOption,
    out_: Annotated[Path, typer.Option("--out", help="The folder to write the vocabulary to.")],
    size: Annotated[int | None, override_option("vocab.size")] = None,
    min_count: Annotated[int | None, override_option("vocab.min_count")] = None,
    given: ReadingOptions,
    by: ShardOptions,
    json: JsonOption = False,
) -> None:
    """Learn a vocabulary of any texts, without a run: to look at, or for runs by --set vocab.source=DIR."""
    from lexigraft.learn.unigrams import learn_at_once, make_unigrams

    learn_it: Learn = learn_at_once
    if (where := by.where()) is not None:
        from lexigraft.shards.vocabulary import learn_by_shards

        learn_it = learn_by_shards(where)
    show_messages()
    settings = given.load({"vocab.size": size, "vocab.min_count": min_count})
    facts = make_unigrams(data, out_, settings, BarProgress(), learn_it)
    show(json, {"vocabulary": str(out_), **facts}, f"{out_}: {_line(facts)}")


def _line(facts: dict[str, Any]) -> str:
    if facts.get("subwords"):
        return f"{facts['terms']:,} terms: the backbone's own subwords, counted in {facts['documents']:,} documents"
    return (
        f"{facts['terms']:,} terms for {facts['forms']:,} of {facts['distinct_words']:,} distinct words; they cover "
        f"{facts['coverage']:.1%} of the text"
    )


@app.command(rich_help_panel=LEARN)
@grouped
def wordpiece(
    *,
    data: DataOption,
    out_: Annotated[Path, typer.Option("--out", help="The folder to write the tokenizer to.")],
    size: Annotated[int, setting_option(BackboneSettings, "pieces", "--size")] = 30_000,
    min_count: Annotated[int, setting_option(BackboneSettings, "min_count")] = BackboneSettings.min_count,
    given: SettingsOptions,
    json: JsonOption = False,
) -> None:
    """Learn a WordPiece tokenizer of a collection's own, a folder that transformers loads."""
    from lexigraft.learn.wordpiece import make_tokenizer

    show_messages()
    facts = make_tokenizer(data, out_, given.load(), size, min_count, BarProgress())
    line = (
        f"{out_}: {facts['pieces']:,} pieces of {facts['distinct_words']:,} distinct words; they spell "
        f"{facts['coverage']:.1%} of the text"
    )
    show(json, {"tokenizer": str(out_), **facts}, line)


@dataclass(frozen=True)
class StudyOptions(Loading):
    """What a vocabulary is tried on, where the numbers go, and the settings that texts are read with."""

    data: TryOption = None
    out_: StudyOut = None
    config: ConfigOption = None
    set_: SetOption = None
    json: JsonOption = False

    def show(self, facts: dict[str, Any], print_tables: Callable[[], None]) -> None:
        if self.json:
            print_json(facts)
            return
        print_tables()
        if self.out_ is not None:
            print_line(f"written to {self.out_}")


@app.command(rich_help_panel=LOOK)
@grouped
def stats(vocabulary: Annotated[Path, typer.Argument(help=VOCABULARY)], study: StudyOptions) -> None:
    """Count a vocabulary: size, scripts, frequencies; with --data, what it makes of queries and documents."""
    from lexigraft.cli.vocab.tables import print_stats
    from lexigraft.comparison import vocabulary_study

    show_messages()
    facts = vocabulary_study.stats(vocabulary, study.data, study.out_, study.load(), BarProgress())
    study.show(facts, lambda: print_stats([facts]))


@app.command(rich_help_panel=LOOK)
@grouped
def compare(
    a: Annotated[Path, typer.Argument(help=VOCABULARY)],
    b: Annotated[Path, typer.Argument(help="Another one.")],
    study: StudyOptions,
) -> None:
    """Compare two vocabularies: what they share, and what only one has."""
    from lexigraft.cli.vocab.tables import print_comparison
    from lexigraft.comparison import vocabulary_study

    show_messages()
    facts = vocabulary_study.compare(a, b, study.data, study.out_, study.load(), BarProgress())
    study.show(facts, lambda: print_comparison(facts))
