"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

from lexigraft.cli.setting_options import as_overrides, override_option, setting_option
from lexigraft.core.settings import SearchSettings

QUICKSTART = Path("runs/quickstart")

DataOption = Annotated[
    str,
    typer.Option(
        "--data",
        help="A collection: a file (.csv, .tsv, .jsonl, .json, .parquet, .txt), a folder in BEIR or MS MARCO layout or "
        "of Markdown, text or HTML files, '-' for standard input, ir_datasets:ID, or 'pydocs', this machine's Python "
        "documentation. 'lexigraft data look FILE' shows what is understood.",
    ),
]
RunOption = Annotated[Path, typer.Option("--run", help="The folder of a run.")]
OutOption = Annotated[Path, typer.Option("--out", help="The folder to write; made if absent, continued if begun.")]
ReplaceOption = Annotated[
    bool,
    typer.Option(
        "--replace", help="Where --out holds the work of another collection, remove it; without this it is refused."
    ),
]
ConfigOption = Annotated[
    Path | None,
    typer.Option(
        "--config", help="A TOML file with settings, or the settings.json of a run.", exists=True, dir_okay=False
    ),
]
RecipeOption = Annotated[
    str | None,
    typer.Option("--recipe", help="A set of settings by name ('lexigraft recipe list'), or a TOML file of your own."),
]
AlphaOption = Annotated[str | None, override_option("model.alpha", metavar="N|auto")]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", help="One setting, such as lexical.k1=0.9; may be repeated.", metavar="SECTION.KEY=VALUE"),
]
OnDuplicateOption = Annotated[str | None, override_option("data.on_duplicate")]
FieldsOption = Annotated[str | None, override_option("data.fields", metavar="ROLE=FIELD,...")]
QrelsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--qrels", help="Judgements: FILE or SPLIT=FILE (test where not said); may be repeated.", metavar="[SPLIT=]FILE"
    ),
]
FormatOption = Annotated[str | None, override_option("data.format")]
TextsOption = Annotated[str | None, override_option("index.texts")]

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for scripts instead of a table.")]
SystemOption = Annotated[
    str | None, typer.Option("--system", help="Which system of the run to use; its default where not given.")
]
IndexOption = Annotated[
    Path | None, typer.Option("--index", help="An index folder made by 'lexigraft index', instead of a run.")
]
EngineOption = Annotated[
    str | None,
    typer.Option(
        "--engine",
        metavar="ADDRESS",
        help="What 'lexigraft engine load' put into an engine, such as qdrant://HOST/NAME. Queries are encoded by the "
        "index that was loaded; where that is elsewhere, by a --run or --index.",
    ),
]
WhereOption = Annotated[
    list[str] | None,
    typer.Option(
        "--where",
        help="Only documents whose metadata fulfil this, such as 'year >= 2020 and (lang = \"de\" or tags has draft)': "
        "= != < <= > >= in has, joined by and, or, not. May be repeated: all must hold. 'lexigraft index metadata' "
        "keeps them.",
        metavar="CONDITION",
    ),
]
OverlapOption = Annotated[float, setting_option(SearchSettings, "overlap")]
OverlapOfOption = Annotated[
    str,
    typer.Option(
        "--overlap-of",
        help="What --overlap is a share of: all 'terms' of the query, those that a model added included, or its own "
        "'words'.",
        metavar="terms|words",
    ),
]
TwoStepOption = Annotated[int, setting_option(SearchSettings, "two_step")]
QkOption = Annotated[
    str | None,
    typer.Option(
        "--qk",
        metavar="NUMBER|mSHARE",
        help="Search with the query's so many heaviest terms, 0 for all, instead of as many as the run chose. Below 1: "
        "with those that weigh at least this share of the heaviest. m0.8: with the fewest of the heaviest that have "
        "this share of the sum of all weights.",
    ),
]
DkOption = Annotated[
    str | None,
    typer.Option(
        "--dk",
        metavar="NUMBER|mSHARE",
        help="Search with so many terms of every document, 0 for all, instead of as many as the run chose, or by mass "
        "(m0.8, as --qk); an index of them is made where the run has none.",
    ),
]
SearchCostOption = Annotated[
    float | None,
    typer.Option(
        "--cost",
        help="Search with the best (qk, dk) that costs no more than this share of BM25's postings, such as 0.5, by "
        "what the run's validation queries say.",
    ),
]
SearchBudgetOption = Annotated[
    str | None,
    typer.Option("--budget", help="The same for bm25, which is a --cost of 1, or for a number of FLOPS, such as 0.3."),
]
VectorsOption = Annotated[
    Path | None, typer.Option("--vectors", help="The vectors that an --index was made of, for --two-step.")
]
KeepOption = Annotated[
    list[str] | None,
    typer.Option(
        "--keep",
        help="Terms kept of a query and of a document, such as 5,20 (0: all) or, by mass, 5,m0.8; may be repeated.",
        metavar="QK,DK",
    ),
]


def overrides(
    set_: list[str] | None,
    on_duplicate: str | None = None,
    alpha: str | None = None,
    fields: str | None = None,
    format_: str | None = None,
) -> list[str]:
    """The settings given on the command line, by --set and by options of their own."""
    given = {
        "data.on_duplicate": on_duplicate, "data.fields": fields, "data.format": format_, "model.alpha": alpha
    }  # fmt: skip
    return [*(set_ or ()), *as_overrides(given)]


RunsOption = Annotated[
    list[Path] | None, typer.Option("--run", help="The folder of a run; repeat it to compare several.")
]
IndexesOption = Annotated[
    list[Path] | None, typer.Option("--index", help="An index made by 'lexigraft index'; may be repeated.")
]
SystemsOption = Annotated[
    list[str] | None,
    typer.Option("--system", help="A system for all runs, or one for each in order; their models where not given."),
]
QueriesOption = Annotated[
    Path | None,
    typer.Option("--queries", help="Queries: .jsonl, .tsv or TREC topics; those a run is measured on where not given."),
]
MovedDataOption = Annotated[
    str | None,
    typer.Option("--data", help="The collection: for the queries of an --index, or where a run's own has moved."),
]
ResultsOption = Annotated[list[int] | None, typer.Option("--k", min=1, help="How many results; may be repeated.")]
