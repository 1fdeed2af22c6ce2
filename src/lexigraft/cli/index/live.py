"""`index live`, `index add`, `index delete`, `index merge` and `index status`: a live index."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast

import typer

from lexigraft.cli.console import BarProgress, print_json, print_line, print_table, show_messages
from lexigraft.cli.options import (
    ConfigOption,
    FieldsOption,
    FormatOption,
    JsonOption,
    OnDuplicateOption,
    SetOption,
    TextsOption,
    overrides,
)
from lexigraft.cli.setting_options import as_overrides
from lexigraft.core.cut import document_cut
from lexigraft.core.errors import SettingError
from lexigraft.core.types import counted_rows

if TYPE_CHECKING:
    from lexigraft.index.live.writer import Appended, Merged

LiveArgument = Annotated[Path, typer.Argument(help="The folder of a live index.", metavar="LIVE")]
WaitOption = Annotated[
    bool, typer.Option("--wait", help="Wait while another process writes to it, instead of stopping with an error.")
]


def live(
    index: Annotated[Path, typer.Argument(help="An index made by 'lexigraft index' or a run.", metavar="INDEX")],
    out_: Annotated[Path, typer.Option("--out", help="The folder of the live index to make.")],
    json: JsonOption = False,
) -> None:
    """Make a live index that begins with a copy of an index: documents can be added to it and deleted."""
    from lexigraft.retrieve.live_changes import make_live

    show_messages()
    state = make_live(index, out_)
    if json:
        print_json({"live": str(out_), "documents": state.n_living})
        return
    rows = counted_rows(state.n_living, state.passages)
    print_line(f"{out_}: {rows}; add to it: lexigraft index add {out_} --vectors VECTORS")
    if state.query_encoder.get("kind") == "bm25":
        print_line(
            "An index of BM25 keeps no counts, so this one takes no texts. One that does begins with the texts: "
            "lexigraft index add NEW --data DIR"
        )


def add(
    live: LiveArgument,
    vectors: Annotated[
        Path | None,
        typer.Option(
            "--vectors",
            help="Vectors made by 'lexigraft encode'; without LIVE they begin one. With --data: a file with the dense "
            "vectors of those documents, where LIVE was grafted by such a file.",
        ),
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(
            "--data",
            help="A collection, given as for 'run': encoded with the model that LIVE names, or counted where LIVE is "
            "of BM25; without LIVE it begins one of BM25.",
        ),
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="A document whose id is there already takes the old one's place.")
    ] = False,
    keep: Annotated[
        str | None,
        typer.Option(
            "--keep",
            metavar="NUMBER|mSHARE",
            help="Terms kept a document, or by mass (m0.8), of a live index that begins; 0 keeps all.",
        ),
    ] = None,
    config: ConfigOption = None,
    set_: SetOption = None,
    fields: FieldsOption = None,
    format_: FormatOption = None,
    on_duplicate: OnDuplicateOption = None,
    texts: TextsOption = None,
    wait: WaitOption = False,
    json: JsonOption = False,
) -> None:
    """Add documents as one more segment; readers see all of them at once, or none."""
    from lexigraft.core.config import load_settings
    from lexigraft.index.live.state import is_live
    from lexigraft.retrieve.live_changes import Adding, add_texts, add_vectors, holds_passages, keys_of
    from lexigraft.retrieve.warm import compile_search

    show_messages()
    given = [*overrides(set_, on_duplicate, None, fields, format_), *as_overrides({"index.texts": texts})]
    settings = load_settings(config, given)
    given_beside = vectors if data is not None else None
    adding = Adding(None if keep is None else document_cut(keep, "--keep"), replace, wait, given_beside)
    was_there = is_live(live)
    if vectors is not None and data is None:
        added = add_vectors(live, vectors, settings, adding, BarProgress())
    elif data is not None:
        added = add_texts(live, data, settings, adding, BarProgress())
    else:
        raise SettingError("give --vectors VECTORS or --data DIR; both only where LIVE is grafted by given vectors")
    if not was_there:
        compile_search(live)
    keys = keys_of(live)
    if json:
        print_json({"live": str(live), **asdict(added), "metadata": keys})
    else:
        _show_added(live, added, holds_passages(live), is_new=data is not None and not was_there)
        if keys:
            print_line(f"to filter by (--where): {', '.join(keys)}")


def _show_added(live: Path, added: "Appended", passages: bool, is_new: bool) -> None:
    replaced = f", {added.n_replaced:,} of them in the place of older ones" if added.n_replaced else ""
    rows = counted_rows(added.n_rows, passages)
    print_line(f"{live}: {rows} added as segment {added.segment}{replaced}")
    if is_new:
        print_line(f"{live} is a new live index of BM25.")
    if added.own_scale:
        print_line(
            "Their weights are too large for the scale of the other segments, so they have one of their own; merging "
            "will round the others to it."
        )


def delete(
    live: LiveArgument,
    doc_ids: Annotated[list[str] | None, typer.Argument(help="Ids of documents.", metavar="[ID]...")] = None,
    ids: Annotated[
        Path | None,
        typer.Option("--ids", help="A file with more ids, one a line.", exists=True, dir_okay=False),
    ] = None,
    missing: Annotated[
        str, typer.Option("--missing", help="An id that is not there: 'error', or 'ok' to count it and go on.")
    ] = "error",
    wait: WaitOption = False,
    json: JsonOption = False,
) -> None:
    """Delete documents by id: all of them, or where one is unknown none. Merging gives back their room."""
    from lexigraft.retrieve.live_changes import delete_documents

    show_messages()
    wanted = [*(doc_ids or ()), *(_read_ids(ids) if ids else ())]
    if not wanted:
        raise SettingError("give the ids of documents, or --ids FILE")
    if missing not in ("error", "ok"):
        raise SettingError(f"--missing {missing} is not allowed: 'error' or 'ok'")
    deleted = delete_documents(live, wanted, cast(Literal["error", "ok"], missing), wait)
    if json:
        print_json({"live": str(live), **asdict(deleted)})
        return
    absent = f"; {deleted.n_missing:,} were not there" if deleted.n_missing else ""
    print_line(f"{live}: {counted_rows(deleted.n_documents)} deleted{absent}")


def merge(
    live: LiveArgument,
    everything: Annotated[
        bool, typer.Option("--all", help="Merge all segments into one, also where it does not pay.")
    ] = False,
    config: ConfigOption = None,
    set_: SetOption = None,
    wait: WaitOption = False,
    json: JsonOption = False,
) -> None:
    """Merge segments where it pays, and leave out what was deleted; rankings stay as they are, but of BM25: where all
    segments become one, documents are weighed by their average length of now."""
    from lexigraft.core.config import load_settings
    from lexigraft.retrieve.live_changes import holds_passages, merge_segments

    show_messages()
    done = merge_segments(live, everything, load_settings(config, set_ or ()), wait, BarProgress())
    if json:
        print_json({"live": str(live), "merges": [asdict(item) for item in done]})
        return
    for item in done:
        print_line(f"{live}: {_merged_line(item, holds_passages(live))}")
    if not done:
        remedy = "" if everything else "; --all merges all the same"
        print_line(f"{live}: nothing was merged, because it would not pay{remedy}")


def _merged_line(item: "Merged", passages: bool) -> str:
    before = ", ".join(item.segments)
    if item.into is None:
        return f"{before} held only what was deleted and went"
    if not item.n_rows:
        return f"{before} held only what was deleted; {item.into} stays, because it has the vocabulary"
    line = (
        f"{before} became {item.into}: {counted_rows(item.n_rows, passages)}, {item.n_dropped:,} deleted ones left out"
    )
    if len(item.scales) > 1:
        line += f"; {len(item.scales)} scales became one, which changed weights by at most {item.largest_error:.3g}"
    return line


def status(
    live: LiveArgument,
    verify: Annotated[
        bool,
        typer.Option("--verify", help="Compare every byte of every file with its checksum first, and look through it."),
    ] = False,
    json: JsonOption = False,
) -> None:
    """Show the segments of a live index and what is deleted in them."""
    from lexigraft.retrieve.live_changes import status as look

    show_messages()
    facts = look(live, verify)
    if json:
        print_json(facts)
        return
    rows = [
        (
            segment["name"],
            f"{segment['documents']:,}",
            f"{segment['deleted']:,}",
            f"{segment['postings']:,}",
            f"{segment['bytes'] / 1e6:,.1f}",
            f"{segment['scale']:.6g}",
        )
        for segment in facts["segments"]
    ]
    print_table(
        f"{live}, generation {facts['generation']}",
        ("segment", "passages" if facts["passages"] else "documents", "deleted", "postings", "MB", "scale"),
        rows,
        left=("segment",),
    )
    if (graft := facts["graft"]) is not None:
        print_line(
            f"grafted by vectors of {graft['width']:,} numbers ({graft['encoder']}): borrowed {graft['borrowed']:g} of "
            f"{graft['neighbours']} neighbours, told {graft['told']:g}"
        )
    whole = "; every byte is as it was written" if verify else ""
    print_line(f"{counted_rows(facts['documents'], facts['passages'])}, {facts['deleted']:,} deleted{whole}")


def _read_ids(path: Path) -> list[str]:
    from lexigraft.data.readers.lines import read_lines

    return [line.text for line in read_lines(path)]
