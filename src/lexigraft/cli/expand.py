"""`lexigraft expand`: BM25 with expanded queries or documents, beside plain BM25."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from lexigraft.cli.console import BarProgress, print_json, print_line, print_table, show, show_messages
from lexigraft.cli.given_settings import SettingsOptions
from lexigraft.cli.option_groups import grouped
from lexigraft.cli.options import DataOption, JsonOption, OutOption
from lexigraft.cli.setting_options import setting_option
from lexigraft.expand.settings import GenerateSettings, Rm3Settings

app = typer.Typer(no_args_is_help=True, help="Expand queries or documents over BM25: feedback, or generated text.")

IndexOption = Annotated[
    Path | None,
    typer.Option("--index", help="A BM25 index of the documents, such as RUN/judged/bm25/index; else one is made."),
]
SplitOption = Annotated[
    str,
    typer.Option("--split", help="Whose judged queries; auto: test, or dev, or all where none are judged; or 'all'."),
]
GeneratedOption = Annotated[
    Path, typer.Option("--generated", help='Generated text: {"id", "text"} a line (.jsonl), or id, tab, text (.tsv).')
]
MEASURES = ("MRR@10", "nDCG@10", "R@10", "R@100", "R@1000")


EXPAND = "Expand and measure"
GENERATE = "Text to expand with"


@dataclass(frozen=True)
class Expanded:
    """What is expanded, over which index, and where the results go."""

    data: DataOption
    out_: OutOption
    index: IndexOption = None
    split: SplitOption = "auto"


@app.command(rich_help_panel=EXPAND)
@grouped
def rm3(
    *,
    what: Expanded,
    fb_docs: Annotated[int, setting_option(Rm3Settings, "fb_docs")] = Rm3Settings.fb_docs,
    fb_terms: Annotated[int, setting_option(Rm3Settings, "fb_terms")] = Rm3Settings.fb_terms,
    original_weight: Annotated[float, setting_option(Rm3Settings, "original_weight")] = Rm3Settings.original_weight,
    document_weights: Annotated[str, setting_option(Rm3Settings, "document_weights")] = Rm3Settings.document_weights,
    max_share: Annotated[float, setting_option(Rm3Settings, "max_share")] = Rm3Settings.max_share,
    given: SettingsOptions,
    json: JsonOption = False,
) -> None:
    """Add to each query the terms of what it finds first, and search again (RM3)."""
    from lexigraft.study.expansion.over_bm25 import expand_rm3

    show_messages()
    feedback = Rm3Settings(fb_docs, fb_terms, original_weight, document_weights, max_share)
    rows = expand_rm3(what.data, what.out_, given.load(), feedback, what.index, what.split, BarProgress())
    _print(rows, what.out_, json)


@app.command(rich_help_panel=EXPAND)
@grouped
def query2doc(
    *,
    what: Expanded,
    generated: GeneratedOption,
    repeats: Annotated[int, typer.Option("--repeats", help="How often the query stands before its text.")] = 5,
    given: SettingsOptions,
    json: JsonOption = False,
) -> None:
    """Add to each query a text that was generated for it (Query2Doc)."""
    from lexigraft.study.expansion.over_bm25 import expand_query2doc

    show_messages()
    rows = expand_query2doc(
        what.data, generated, what.out_, given.load(), repeats, what.index, what.split, BarProgress()
    )
    _print(rows, what.out_, json)


@app.command(rich_help_panel=EXPAND)
@grouped
def doc2query(what: Expanded, generated: GeneratedOption, given: SettingsOptions, json: JsonOption = False) -> None:
    """Add to each document queries that were generated for it, and index those (DocT5Query)."""
    from lexigraft.study.expansion.over_bm25 import expand_doc2query

    show_messages()
    rows = expand_doc2query(what.data, generated, what.out_, given.load(), what.index, what.split, BarProgress())
    _print(rows, what.out_, json)


@app.command(rich_help_panel=GENERATE)
@grouped
def generate(
    *,
    data: DataOption,
    of: Annotated[str, typer.Option("--of", help="What to generate text for: queries or documents.")],
    model: Annotated[str, typer.Option("--model", help="A generator: a folder or hub name, of T5's kind or GPT's.")],
    out_: Annotated[Path, typer.Option("--out", help="The file to write (.jsonl); continued if begun.")],
    split: Annotated[str, typer.Option("--split", help="Whose judged queries; or 'all' queries.")] = "all",
    limit: Annotated[int, typer.Option("--limit", min=0, help="Only the first so many; 0: all.")] = 0,
    prompt: Annotated[str, setting_option(GenerateSettings, "prompt")] = GenerateSettings.prompt,
    texts: Annotated[int, setting_option(GenerateSettings, "texts")] = GenerateSettings.texts,
    max_tokens: Annotated[int, setting_option(GenerateSettings, "max_tokens")] = GenerateSettings.max_tokens,
    input_tokens: Annotated[int, setting_option(GenerateSettings, "input_tokens")] = GenerateSettings.input_tokens,
    top_k: Annotated[int, setting_option(GenerateSettings, "top_k")] = GenerateSettings.top_k,
    top_p: Annotated[float, setting_option(GenerateSettings, "top_p")] = GenerateSettings.top_p,
    temperature: Annotated[float, setting_option(GenerateSettings, "temperature")] = GenerateSettings.temperature,
    batch: Annotated[int, setting_option(GenerateSettings, "batch")] = GenerateSettings.batch,
    seed: Annotated[int, setting_option(GenerateSettings, "seed")] = GenerateSettings.seed,
    given: SettingsOptions,
    json: JsonOption = False,
) -> None:
    """Generate text for queries or documents with a model of your own, for 'query2doc' or 'doc2query'."""
    from lexigraft.study.expansion.generated_text import generate_text

    show_messages()
    drawing = GenerateSettings(prompt, texts, max_tokens, input_tokens, top_k, top_p, temperature, batch, seed)
    n_lines = generate_text(data, of, model, out_, given.load(), drawing, split, limit, BarProgress())
    use = "query2doc" if of == "queries" else "doc2query"
    show(
        json,
        {"generated": str(out_), of: n_lines, "texts": n_lines * texts},
        f"{out_}: {n_lines * texts:,} texts for {n_lines:,} {of}",
        f"expand with them: lexigraft expand {use} --data {data} --generated {out_} --out FOLDER",
    )


def _print(rows: list[dict[str, Any]], out: Path, json: bool) -> None:
    if json:
        print_json({"out": str(out), "rows": rows})
        return
    measures = [name for name in MEASURES if name in rows[0]]
    columns = ("system", "L0_q", "L0_d", "FLOPS", *measures)
    table = [
        (
            row["system"], f"{row['L0_q']:.1f}", f"{row['L0_d']:.1f}", f"{row['FLOPS']:.3f}",
            *(f"{row[name]:.4f}" for name in measures),
        )
        for row in rows
    ]  # fmt: skip
    judged = f"{rows[0]['split']} queries" if rows[0]["split"] else "queries, none of them judged"
    print_line(f"{rows[0]['queries']:,} {judged}")
    print_table("", columns, table, left=("system",))
    print_line(f"runs and query vectors: {out}/{{{','.join(row['system'] for row in rows)}}}")
