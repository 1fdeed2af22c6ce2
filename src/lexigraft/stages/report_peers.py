"""What a report says of every row's index, and of hybrids: added when it is assembled, for measurements of former
versions, too."""

from collections.abc import Mapping
from typing import Any

from lexigraft.core.artifact import read_manifest
from lexigraft.stages.layout import RunFolder
from lexigraft.stages.text_searches import HybridChoice, searched_path


def with_peers(
    report: Mapping[str, Any], run: RunFolder, hybrids: Mapping[str, HybridChoice], view: str
) -> dict[str, Any]:
    """The rows, measured over the documents of `view`, with the bytes of what each searches and, where there are
    hybrids, how they are fused and why."""
    rows = [{**row, "index_bytes": index_bytes(row, run, hybrids, view)} for row in report["rows"]]
    fused = {name: choice._asdict() for name, choice in hybrids.items()}
    return {"rows": rows, **({"hybrids": fused} if fused else {})}


def index_bytes(row: Mapping[str, Any], run: RunFolder, hybrids: Mapping[str, HybridChoice], view: str) -> int:
    """The bytes of all files of what a search reads: an index of terms, dense vectors, or both."""
    name = row["system"]
    if name in hybrids:
        paths = [searched_path(run, view, part) for part in hybrids[name].asked]
    elif "width" in row:
        paths = [run.vectors(view, name)]
    else:
        paths = [run.index(view, name, row["dk"])]
    found = [manifest for path in paths if (manifest := read_manifest(path)) is not None]
    return sum(int(facts["bytes"]) for manifest in found for facts in manifest.files.values())
