"""Statistics of vectors wherever they lie: a run's, a vectors folder, stored query vectors, or queries encoded now."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from lexigraft.comparison.bench_search import list_queries
from lexigraft.core.artifact import MANIFEST, read_manifest
from lexigraft.core.cut import DocumentCut
from lexigraft.core.errors import ArtifactError, InputError
from lexigraft.core.progress import SILENT, Progress
from lexigraft.core.systems_table import DENSE, HYBRID
from lexigraft.stages.layout import JUDGED, RunFolder
from lexigraft.vectors import query_store
from lexigraft.vectors.query_encoder import encode_queries, open_query_encoder
from lexigraft.vectors.query_store import open_query_vectors
from lexigraft.vectors.stats import DOCUMENT_PRUNINGS, QUERY_PRUNINGS, vector_statistics
from lexigraft.vectors.store import open_vectors


def measure_vectors(
    paths: Sequence[Path],
    queries: Path | None = None,
    dk: Sequence[DocumentCut] = DOCUMENT_PRUNINGS,
    qk: Sequence[DocumentCut] = QUERY_PRUNINGS,
    thresholds: Sequence[int] | None = None,
    progress: Progress = SILENT,
) -> list[dict[str, Any]]:
    """What `vectors.stats` says of the vectors at each of `paths` (a run: those of all its systems), with the `path`
    and the `side`: documents or queries. With a file of `queries`, each encoder's vectors of those too."""
    asked = None if queries is None else list_queries(queries)
    if asked is not None and not asked:
        raise InputError(f"{queries} holds no query to measure")
    found = []
    for path in (place for given in paths for place in _places(given)):
        manifest = read_manifest(path)
        if manifest is not None and manifest.kind == query_store.KIND:
            matrix, _ = open_query_vectors(path)
            facts = vector_statistics(matrix, qk, thresholds, progress)
            found.append({"path": str(path), "side": "queries", **facts})
            continue
        vectors = open_vectors(path)  # once: what both sides say is of the same version
        facts = vector_statistics(vectors.matrix, dk, thresholds, progress)
        found.append({"path": str(path), "side": "documents", **facts})
        if asked is not None:
            encoder = open_query_encoder(vectors.query_encoder, vectors.vocabulary, path)
            facts = vector_statistics(encode_queries(asked, encoder, vectors.vocabulary), qk, thresholds, progress)
            found.append({"path": str(path), "side": "queries", **facts})
    return found


def _places(path: Path) -> Iterator[Path]:
    """`path` where that is an artifact; of a run, the vectors of its systems, in the view that is measured."""
    run = RunFolder(path)
    if (path / MANIFEST).is_file() or not run.contents.is_file():
        yield path
        return
    contents = run.read_contents()
    of_terms = [name for name in contents.systems if contents.kinds.get(name) not in (DENSE, HYBRID)]
    places = [place for system in of_terms if (place := run.vectors(JUDGED, system)).is_dir()]
    if not places:
        raise ArtifactError(f"the run at {path} has no vectors yet; continue it with the command that began it")
    yield from places
