"""`data look`: what is understood of a file, before anything is built of it."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from lexigraft.cli.console import print_json, print_line, print_prose, print_table, show_messages
from lexigraft.cli.options import FieldsOption, FormatOption, JsonOption
from lexigraft.cli.setting_options import setting_option
from lexigraft.core.errors import SettingError
from lexigraft.core.settings import DataSettings

if TYPE_CHECKING:
    from lexigraft.data.look import Look
    from lexigraft.vocab.language import Guess

PARTS = ("documents", "queries", "judgements")
_ONE = dict(zip(PARTS, ("document", "query", "judgement"), strict=True))
_WIDTH = 100  # of a text that is shown


def look(
    source: Annotated[
        str,
        typer.Argument(
            help="A file (.csv, .tsv, .jsonl, .json, .parquet, .txt), a folder of Markdown, text or HTML files, or '-' "
            "for standard input; all are streamed.",
            metavar="FILE",
        ),
    ],
    part: Annotated[str, typer.Option("--as", help=f"What it holds: {', '.join(PARTS)}.")] = PARTS[0],
    fields: FieldsOption = None,
    format_: FormatOption = None,
    on_bad_bytes: Annotated[str, setting_option(DataSettings, "on_bad_bytes")] = DataSettings.on_bad_bytes,
    json: JsonOption = False,
) -> None:
    """Show what is understood of a file: fields, types, three documents, counts, language, warnings, and the command to
    build it.

    Nothing is written. The whole file is read, so a mistake anywhere in it is found here. The language of documents is
    guessed as `index` and `run` guess it, which take its stemmer and stop-words.
    """
    from lexigraft.data.look import build_commands, look_at
    from lexigraft.data.reading import Reading
    from lexigraft.vocab.language import guess_language

    show_messages()
    if part not in PARTS:
        raise SettingError(f"--as {part} is not allowed: one of {', '.join(PARTS)}")
    checked = DataSettings(fields=fields or "", format=format_ or DataSettings.format, on_bad_bytes=on_bad_bytes)
    reading = Reading("keep", checked.on_bad_bytes, checked.fields, checked.format)
    found = look_at(source, part, reading)
    guess = guess_language(found.sample.texts) if part == PARTS[0] else None
    commands = build_commands(found, reading)
    if json:
        print_json({**_facts(found), **_language_facts(guess), "commands": commands})
        return
    _print(found)
    if guess is not None:
        print_prose(guess.line)
    print_line("build it:" if part == PARTS[0] else "use it:")
    for command in commands:
        print_line(f"  {command}")


def _facts(found: "Look") -> dict[str, Any]:
    columns = {
        name: {
            "role": column.role or "metadata",
            "types": dict(column.kinds),
            "empty": found.n_records - column.n_filled,
        }
        for name, column in found.columns.items()
    }
    return {
        "source": found.source,
        "format": found.format,
        "fields": columns,
        "guessed": sorted(found.chosen.guessed) if found.chosen is not None else [],
        found.part: found.n_records,
        "words": found.words,
        "shown": [noun._asdict() for noun in found.shown],
        "warnings": found.warnings,
    }


def _print(found: "Look") -> None:
    mean = f", {found.words / found.n_records:,.1f} words each" if found.part != PARTS[2] else ""
    counted = f"{found.n_records:,} {found.part}" if found.n_records != 1 else f"1 {_ONE[found.part]}"
    print_line(f"{found.source}: {found.format}; {counted}{mean}", style="bold")
    guessed = found.chosen.guessed if found.chosen is not None else frozenset()
    rows = [
        (name, _role(column.role, column.role in guessed), column.words, f"{found.n_records - column.n_filled:,}")
        for name, column in found.columns.items()
    ]
    if rows:
        print_table("", ("field", "is", "holds", "empty"), rows, left=("field", "is", "holds"))
    for noun in found.shown:
        print_prose("  ".join(f"{key}: {_short(value)}" for key, value in noun._asdict().items() if value != ""))
    for warning in found.warnings:
        print_prose(f"warning: {warning}", style="yellow")


def _language_facts(guess: "Guess | None") -> dict[str, Any]:
    if guess is None:
        return {}
    return {
        "language": {
            "name": guess.language,
            "sure": guess.sure,
            "because": guess.because,
            "stemmer": guess.stemmer,
            "stopwords": guess.stopwords,
        }
    }


def _role(role: str, guessed: bool) -> str:
    return f"{role or 'metadata'}{' (guessed)' if guessed else ''}"


def _short(value: object) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= _WIDTH else f"{text[:_WIDTH]}..."
