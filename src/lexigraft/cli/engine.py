"""`engine load`, `engine status`, `engine delete` and `engine drop`: an index in an engine that scales."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from pathlib import Path
from shlex import quote
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lexigraft.cli.console import err, show, show_messages
from lexigraft.cli.options import DkOption, IndexOption, JsonOption, SystemOption
from lexigraft.core.errors import SettingError
from lexigraft.core.types import counted_rows

if TYPE_CHECKING:
    from lexigraft.engines.address import Address
    from lexigraft.engines.engine import Description, Engine

AddressArgument = Annotated[
    str,
    typer.Argument(
        metavar="ADDRESS",
        help="Where the collection is: milvus://HOST/NAME, qdrant://HOST/NAME, postgresql://USER@HOST/DATABASE/NAME, "
        "or files of this machine, milvus:/FOLDER/NAME.",
    ),
]
RunOption = Annotated[Path | None, typer.Option("--run", help="The folder of a run.")]
LocalRunOption = Annotated[
    Path | None, typer.Option("--run", help="Of documents in passages: the run that knows them, if it was moved.")
]
LocalIndexOption = Annotated[Path | None, typer.Option("--index", help="The same, as an index.")]

app = typer.Typer(no_args_is_help=True)


@app.callback()
def engine() -> None:
    """The same index in an engine that scales: Milvus, Qdrant, PostgreSQL.

    What was loaded is searched with `lexigraft search --engine ADDRESS`, and ranks as the local index does. A password
    or key stands in the address, or in the environment as LEXIGRAFT_ENGINE_SECRET.
    """


@app.command()
def load(
    to: Annotated[str, typer.Option("--to", metavar="ADDRESS", help="Where to, such as qdrant://HOST/NAME.")],
    run: RunOption = None,
    index: IndexOption = None,
    system: SystemOption = None,
    dk: DkOption = None,
    threads: Annotated[int, typer.Option("--threads", min=1, help="Batches that are written at a time.")] = 2,
    batch: Annotated[int, typer.Option("--batch", min=1, help="Rows of a batch.")] = 500,
    json: JsonOption = False,
) -> None:
    """Load the index of a run, or an index, into an engine, with titles and metadata. A load that was stopped goes on
    where it stopped when the command is given again."""
    from lexigraft.retrieve.engine_changes import load_place
    from lexigraft.retrieve.place import find_place

    show_messages()
    if (run is None) == (index is None):
        raise SettingError("give either --run RUN or --index INDEX")
    with _opened(to) as (address, opened):
        place = find_place(index or run or Path(), system, dk=dk)
        begun = monotonic()
        with _bar() as on_progress:
            done = load_place(place, opened, address, threads, batch, on_progress)
        seconds, passages = monotonic() - begun, _described(opened, address).passages
    new = done.n_rows - done.n_before
    facts = {"engine": str(address), "index": str(place.index), "rows": done.n_rows, "before": done.n_before}
    rate = f" ({new / seconds:,.0f}/s)" if new > seconds > 0 else ""  # of few rows, most of it is the connection
    took = f" in {seconds:,.1f} s{rate}" if new else ""
    before = f", {done.n_before:,} were there before" if done.n_before else ""
    show(
        json,
        {**facts, "seconds": round(seconds, 3)},
        f"{address}: {counted_rows(done.n_rows, passages)}; {new:,} loaded{took}{before}",
        f'search it: lexigraft search --engine {quote(str(address))} "your query"',
    )


@app.command()
def status(address: AddressArgument, json: JsonOption = False) -> None:
    """Say what a collection of an engine was loaded from, how many rows it has, and whether that is all."""
    from lexigraft.engines.backoff import with_retries

    show_messages()
    with _opened(address) as (where, opened):
        found, count = _described(opened, where), with_retries(opened.count)
    lacking = found.n_rows - count
    facts: dict[str, Any] = {
        "engine": str(where), "index": found.index, "documents": count, "passages": found.passages,
        "loaded": found.n_loaded, "rows": found.n_rows, "complete": found.is_complete and not lacking,
        "missing": max(0, lacking), "terms": found.n_terms, "metadata": dict(found.kinds),
    }  # fmt: skip
    keys = ", ".join(f"{key} ({kind})" for key, kind in sorted(found.kinds.items())) or "none"
    show(
        json,
        facts,
        f"{where}: {counted_rows(count, found.passages)}, {found.n_terms:,} terms; {_how_whole(found, count)}",
        f"loaded from {found.index}",
        f"to filter by (--where): {keys}",
    )


@app.command()
def delete(
    address: AddressArgument,
    doc_ids: Annotated[list[str], typer.Argument(help="Ids of documents.", metavar="ID...")],
    run: LocalRunOption = None,
    index: LocalIndexOption = None,
    json: JsonOption = False,
) -> None:
    """Delete documents of a collection by id, with all their passages; ids that are not there are passed over. The
    local index keeps them."""
    from lexigraft.retrieve.engine_changes import delete_documents

    show_messages()
    with _opened(address) as (where, opened):
        done = delete_documents(opened, where, doc_ids, index or run)
        passages = _described(opened, where).passages
    facts = {"engine": str(where), "deleted": done.n_rows, "left": done.n_left}
    show(json, facts, f"{where}: {counted_rows(done.n_rows, passages)} deleted, {done.n_left:,} left")


@app.command()
def drop(
    address: AddressArgument,
    yes: Annotated[bool, typer.Option("--yes", help="It is meant: the collection goes for good.")] = False,
    json: JsonOption = False,
) -> None:
    """Delete a whole collection of an engine, with its description. The local index stays."""
    from lexigraft.engines.backoff import with_retries
    from lexigraft.engines.engine import EngineError

    show_messages()
    with _opened(address) as (where, opened):
        found = _described(opened, where)
        count: int | None = None
        with suppress(EngineError) if yes else nullcontext():  # of one that was dropped by half, parts are missing
            count = with_retries(opened.count)
        if not yes:
            rows = counted_rows(count or 0, found.passages)
            raise SettingError(f"{where} holds {rows}, which would be gone for good; give --yes if that is meant")
        with_retries(opened.drop)
    rows = "" if count is None else f", with {count:,} rows"
    show(json, {"engine": str(where), "dropped": count}, f"{where}: dropped{rows}")


@contextmanager
def _opened(text: str) -> "Iterator[tuple[Address, Engine]]":
    from lexigraft.engines import opening
    from lexigraft.engines.address import parse_address

    address = parse_address(text)
    with closing(opening.open_engine(address)) as found:
        yield address, found


def _described(opened: "Engine", address: "Address") -> "Description":
    from lexigraft.retrieve.opened_engine import description_of

    return description_of(opened, address)


def _how_whole(found: "Description", count: int) -> str:
    if not found.is_complete:
        left = found.n_rows - found.n_loaded
        return f"{left:,} of {found.n_rows:,} rows are missing; the command that began the load goes on with it"
    if count < found.n_rows:
        return f"all were loaded, {counted_rows(found.n_rows - count, found.passages)} deleted since"
    return "complete" if count == found.n_rows else f"complete, and {count - found.n_rows:,} rows of others"


@contextmanager
def _bar() -> Iterator[Callable[[int, int], None]]:
    """What is told how many rows are there: a bar on a terminal, and nothing elsewhere."""
    if not err.is_terminal:
        yield lambda done, total: None
        return
    from lexigraft.cli.bars import progress_bar

    with progress_bar(err) as progress:
        task = progress.add_task("loading", total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)
