"""The table of what can be exported to, and the one way in which each target is written."""

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from lexigraft.core.artifact import Manifest, write_artifact, write_json
from lexigraft.core.cut import DocumentCut, QueryCut
from lexigraft.core.errors import InputError, SettingError, require
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.types import Query
from lexigraft.export.readme import write_readme
from lexigraft.stages.standalone import require_free_for

KIND, FORMAT_VERSION = "export", 1
FACTS = "export.json"


class Target(NamedTuple):
    """`module`, below lexigraft.export, has a function `write`. `forms`: those that may be asked for by name."""

    name: str
    module: str
    summary: str
    forms: Sequence[str] = ()


TARGETS = {
    one.name: one
    for one in (
        Target(
            "sentence-transformers",
            "sentence_transformers",
            "a SparseEncoder folder, ready for a hub",
            ("stock", "full"),
        ),
        Target("onnx", "onnx", "the graph that encodes, for ONNX Runtime, with an example that uses it alone"),
        Target("ciff", "ciff", "the Common Index File Format, for PISA and Lucene's tools"),
        Target("anserini", "anserini", "JSON vectors for Anserini and Lucene, with the commands"),
        Target("pisa", "pisa", "an index of PISA itself"),
        Target("qdrant", "qdrant", "a schema, points and query bodies for Qdrant"),
        Target("milvus", "milvus", "a schema, rows and searches for Milvus"),
        Target("pgvector", "pgvector", "SQL and COPY files for PostgreSQL with pgvector"),
        Target(
            "opensearch",
            "opensearch",
            "mappings, bulk files and query bodies for OpenSearch",
            ("rank_features", "sparse_vector"),
        ),
        Target("elasticsearch", "elasticsearch", "mappings, bulk files and query bodies for Elasticsearch"),
        Target("vespa", "vespa", "an application package, feed and queries for Vespa"),
    )
}


@dataclass(frozen=True)
class Wanted:
    """What is asked of a target. `path`: a run or an index; for targets of models, a model, too. `name`: of the
    collection, index or table that is made. `queries` are written as bodies that the target takes. `form`: of
    sentence-transformers, stock or full; of opensearch, rank_features or sparse_vector; chosen where empty."""

    path: Path
    system: str | None = None
    qk: QueryCut | None = None
    dk: DocumentCut | None = None
    name: str = "lexigraft"
    queries: Sequence[Query] = ()
    form: str = ""


@dataclass(frozen=True)
class Exported:
    """What a target wrote: in words, what is kept and what is lost, how it is used; `parents` are the fingerprints of
    what it was made of, `facts` are numbers."""

    title: str
    kept: Sequence[str]
    lost: Sequence[str] = ()
    use: str = ""  # Markdown: the commands or the program that take it from here
    parents: Mapping[str, str] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)


Writer = Callable[[Wanted, Path, Progress], Exported]


def find_target(name: str) -> Target:
    if name not in TARGETS:
        raise SettingError(f"target {name!r} is not known; one of {', '.join(TARGETS)}")
    return TARGETS[name]


def _require_form(target: Target, form: str) -> None:
    if form and not target.forms:
        raise SettingError(f"--form = {form!r} has no meaning for {target.name}, which has one form; leave it out")
    require(not form or form in target.forms, "--form", form, f"one of {', '.join(target.forms)}")


def _require_single_ids(queries: Sequence[Query]) -> None:
    seen: set[str] = set()
    for query in queries:
        if query.query_id in seen:
            raise InputError(f"query id {query.query_id!r} comes twice; results could not be told apart")
        seen.add(query.query_id)


def export(target: str, wanted: Wanted, out: Path, progress: Progress = SILENT) -> Exported:
    """Write what lies at `wanted.path` for a target into the folder `out`, whole or not at all; a former export there
    is replaced."""
    known = find_target(target)
    require_free_for(out, KIND)
    _require_single_ids(wanted.queries)
    _require_form(known, wanted.form)
    writer: Writer = importlib.import_module(f"lexigraft.export.{known.module}").write
    config = {"target": target, "name": wanted.name, "form": wanted.form, "n_queries": len(wanted.queries)}
    parents: dict[str, str] = {}
    with write_artifact(out, Manifest(KIND, FORMAT_VERSION, config, parents)) as folder:
        exported = writer(wanted, folder, progress)
        parents.update(exported.parents)
        write_json(folder / FACTS, {"target": target, **asdict(exported)})
        write_readme(folder, target, exported)
    return exported
