"""`explain`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lexigraft.cli.console import BarProgress, print_json, print_line, show_messages
from lexigraft.cli.options import DkOption, IndexOption, JsonOption, QkOption, SystemOption
from lexigraft.cli.search import OptionalRunOption, open_retriever
from lexigraft.core.errors import SettingError

if TYPE_CHECKING:
    from lexigraft.explain.results import ExplainedResult
    from lexigraft.explain.texts import ExplainedText
    from lexigraft.retrieve.explaining import Explainer


def explain(
    query: Annotated[str | None, typer.Argument(help="The query.")] = None,
    document: Annotated[
        str | None, typer.Argument(help="A document's id; without it, the query's own terms are shown.")
    ] = None,
    text: Annotated[str | None, typer.Option("--text", help="Any text: the terms it becomes as a query.")] = None,
    doc: Annotated[
        str | None,
        typer.Option(
            "--doc", help="A document of a grafted system, by its id: which words it has that its text does not hold."
        ),
    ] = None,
    top: Annotated[int, typer.Option("--top", min=1, help="How many terms to show.")] = 20,
    run: OptionalRunOption = None,
    index: IndexOption = None,
    system: SystemOption = None,
    qk: QkOption = None,
    dk: DkOption = None,
    data: Annotated[
        str | None,
        typer.Option("--data", help="Where the documents' texts are, if not where the run found them: a collection."),
    ] = None,
    against: Annotated[
        Path | None, typer.Option("--against", help="A second run or index, whose model is shown beside the first.")
    ] = None,
    against_system: Annotated[
        str | None,
        typer.Option("--against-system", help="Which system of the second run; alone, another system of the same run."),
    ] = None,
    html: Annotated[
        Path | None, typer.Option("--html", help="Write a page to look at, one file that needs nothing else.")
    ] = None,
    wackiness: Annotated[
        Path | None,
        typer.Option(
            "--wackiness",
            help="Scores of terms, OUT/NAME/queries of `lexigraft wackiness`: how wacky each added term is.",
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Say why a document got its score, or which terms a text becomes: what each adds, and which word it comes from."""
    if sum(given is not None for given in (query, text, doc)) != 1 or (query is None and document is not None):
        raise SettingError("give either a query, with the id of a document or without, or --text TEXT, or --doc ID")
    show_messages()
    if doc is not None:
        if against is not None or against_system is not None or wackiness is not None:
            raise SettingError("--doc shows one system's words; leave out --against, --against-system and --wackiness")
        _explain_document(_open(run, index, system, data, qk, dk), doc, html, top, json)
        return
    asked = query if query is not None else text or ""
    explainers = [_open(run, index, system, data, qk, dk)]
    if wackiness is not None:
        explainers[0].use_wackiness(wackiness)
    if against is not None or against_system is not None:
        explainers.append(_second(run, index, against, against_system, data, qk, dk))
    found = [_explain(explainer, asked, document) for explainer in explainers]
    names = [explainer.name for explainer in explainers]
    if html is not None:
        from lexigraft.explain.page import write_page

        write_page(html, found, names)
    _show(found, names, top, json)


def _open(
    run: Path | None, index: Path | None, system: str | None, data: str | None, qk: str | None, dk: str | None
) -> "Explainer":
    from lexigraft.retrieve.explaining import Explainer

    return Explainer(open_retriever(run, index, system, qk, dk), data)


def _second(
    run: Path | None,
    index: Path | None,
    against: Path | None,
    system: str | None,
    data: str | None,
    qk: str | None,
    dk: str | None,
) -> "Explainer":
    """The model to compare with: another run or index, or another system of the same run."""
    from lexigraft.stages.layout import RunFolder

    if against is None:
        if index is not None:
            raise SettingError("--against-system chooses among the systems of a run; give --against RUN with it")
        return _open(run, None, system, data, qk, dk)
    if RunFolder(against).contents.is_file() or not against.exists():
        return _open(against, None, system, data, qk, dk)
    if system is not None:
        raise SettingError(f"--against-system chooses among the systems of a run; {against} is an index, which has one")
    return _open(None, against, None, data, qk, None)


def _explain(explainer: "Explainer", asked: str, document: str | None) -> "ExplainedText | ExplainedResult":
    if document is None:
        return explainer.explain_text(asked)
    return explainer.explain_result(asked, document, BarProgress())


def _explain_document(explainer: "Explainer", doc_id: str, html: Path | None, top: int, as_json: bool) -> None:
    from lexigraft.cli.explain import origins

    found = explainer.explain_document(doc_id)
    if html is not None:
        from lexigraft.explain.page import write_document_page

        write_document_page(html, found, explainer.name)
    if as_json:
        print_json(origins.document_as_dict(found))
    else:
        origins.show_document(found, top)


def _show(found: "list[ExplainedText | ExplainedResult]", names: list[str], top: int, as_json: bool) -> None:
    from lexigraft.cli.explain import tables
    from lexigraft.explain.results import ExplainedResult

    if as_json:
        print_json(tables.as_dict(found[0]) if len(found) == 1 else tables.pair_as_dict(found[0], found[1], names))
        return
    for number, (item, name) in enumerate(zip(found, names, strict=True)):
        if len(found) > 1:
            print_line(f"{('First', 'Second')[number]}: {name}", style="bold")
        if isinstance(item, ExplainedResult):
            tables.show_result(item, top)
        else:
            tables.show_text(item, top)
    if len(found) > 1:
        tables.show_pair(found[0], found[1], top)
