"""`teacher train` and `teacher score`: the cross-encoder that models learn from."""

from pathlib import Path
from typing import Annotated

import typer

from lexigraft.cli.console import BarProgress, print_json, print_line, show, show_messages
from lexigraft.cli.given_settings import SettingsOptions
from lexigraft.cli.option_groups import grouped
from lexigraft.cli.options import DataOption, JsonOption
from lexigraft.cli.setting_options import override_option, setting_option
from lexigraft.core.errors import SettingError
from lexigraft.core.settings import TeacherSettings

app = typer.Typer(
    no_args_is_help=True,
    help="A cross-encoder, which reads a query and a document together: trained, and its scores to distil from.",
)
USUAL = TeacherSettings()


@app.command()
@grouped
def train(
    *,
    data: DataOption,
    negatives: Annotated[
        Path, typer.Option("--negatives", help="A TREC run over training queries ('lexigraft mine').")
    ],
    backbone: Annotated[
        str, typer.Option("--backbone", help="embedded, a folder, a hub name; or a cross-encoder to train further.")
    ],
    out_: Annotated[Path, typer.Option("--out", help="The folder to write.")],
    steps: Annotated[int | None, override_option("teacher.steps", default="1000 without --epochs")] = None,
    epochs: Annotated[float, setting_option(TeacherSettings, "epochs")] = USUAL.epochs,
    batch: Annotated[int, setting_option(TeacherSettings, "batch")] = USUAL.batch,
    n_negatives: Annotated[int, setting_option(TeacherSettings, "n_negatives")] = USUAL.n_negatives,
    depth: Annotated[int, setting_option(TeacherSettings, "depth")] = USUAL.depth,
    learning_rate: Annotated[float, setting_option(TeacherSettings, "learning_rate")] = USUAL.learning_rate,
    warmup: Annotated[int, setting_option(TeacherSettings, "warmup")] = USUAL.warmup,
    dropout: Annotated[float, setting_option(TeacherSettings, "dropout")] = USUAL.dropout,
    query_length: Annotated[int, setting_option(TeacherSettings, "query_length")] = USUAL.query_length,
    document_length: Annotated[int, setting_option(TeacherSettings, "document_length")] = USUAL.document_length,
    layers: Annotated[int, setting_option(TeacherSettings, "layers")] = USUAL.layers,
    checkpoint_every: Annotated[int, setting_option(TeacherSettings, "checkpoint_every")] = USUAL.checkpoint_every,
    validate_every: Annotated[int, setting_option(TeacherSettings, "validate_every")] = USUAL.validate_every,
    validation_queries: Annotated[
        int, setting_option(TeacherSettings, "validation_queries")
    ] = USUAL.validation_queries,
    given: SettingsOptions,
    json: JsonOption = False,
) -> None:
    """Train a cross-encoder to put the document of qrels/train.tsv before the negatives of a run.

    Queries that are measured (data.split), or that fine-tuning validates on, do not train it. If it is interrupted, the
    same command continues. Then: `lexigraft teacher score`.
    """
    from lexigraft.learn.teacher.training import make_teacher

    show_messages()
    wanted = TeacherSettings(
        steps=(0 if epochs else 1000) if steps is None else steps, epochs=epochs, batch=batch, n_negatives=n_negatives,
        depth=depth, learning_rate=learning_rate, warmup=warmup, dropout=dropout, query_length=query_length,
        document_length=document_length, backbone=backbone, layers=layers, checkpoint_every=checkpoint_every,
        validate_every=validate_every, validation_queries=validation_queries,
    )  # fmt: skip
    if not wanted.trains:
        raise SettingError(f"--steps {steps} trains nothing; give --steps or --epochs of more than 0")
    facts = make_teacher(backbone, data, negatives, out_, wanted, given.load(), BarProgress())
    measured = f", validation MRR@10 {facts['MRR@10']:.4f}" if "MRR@10" in facts else ""
    first = f"{facts['accuracy']:.1%} of own documents first"
    line = f"{out_}: loss {facts['loss']:.3f}, {first}{measured} at step {facts['step']:,}"
    show(json, {"teacher": str(out_), **facts}, line)


@app.command()
@grouped
def score(
    *,
    model: Annotated[
        str, typer.Option("--model", help="A cross-encoder of one label: of 'teacher train', a folder, or a hub name.")
    ],
    data: DataOption,
    pairs: Annotated[Path, typer.Option("--pairs", help="A TREC run whose queries and documents are scored.")],
    out_: Annotated[Path, typer.Option("--out", help="The TREC run to write, by score.")],
    with_positives: Annotated[
        str | None,
        typer.Option("--with-positives", help="Score the positive judgements of this split too.", metavar="SPLIT"),
    ] = None,
    query_length: Annotated[
        int | None, typer.Option("--query-length", min=1, help="Subwords read of a query; else as it was trained.")
    ] = None,
    document_length: Annotated[
        int | None,
        typer.Option("--document-length", min=1, help="Subwords read of a document; else as it was trained."),
    ] = None,
    given: SettingsOptions,
    json: JsonOption = False,
) -> None:
    """Score pairs with a cross-encoder: to distil from, or to measure how it ranks a run's documents anew.

    To distil: `--pairs` mined negatives, `--with-positives train`, then `--set finetune.teacher=FILE`. To measure:
    `--pairs` a run over test queries, then `lexigraft evaluate FILE --data DIR`. If it is interrupted, the same command
    continues.
    """
    from lexigraft.learn.teacher.scoring import score_run
    from lexigraft.model.cross_encoder import Lengths

    show_messages()
    if (query_length is None) != (document_length is None):
        raise SettingError("--query-length and --document-length are given both, or neither")
    lengths = None if query_length is None or document_length is None else Lengths(query_length, document_length)
    settings = given.load()
    found = score_run(model, data, pairs, out_, settings, with_positives, lengths, BarProgress())
    if json:
        print_json({"run": str(out_), **found._asdict()})
        return
    print_line(f"{out_}: {found.pairs:,} pairs of {found.queries:,} queries, by score")
    if with_positives is not None:
        print_line(f"distil from them: --set finetune.teacher={out_} --set finetune.negatives={pairs}")
