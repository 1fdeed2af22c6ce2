"""How much of a model is blended into BM25, down to nothing, by what made validation queries say.

They are cut out of the documents that they ask for, so that words which a model adds look more useful than they are to
people, whose queries share more words with what they look for. So the least expansion is taken that is not clearly
worse than the best one, and BM25 itself unless that is ahead of it by more than chance.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, vstack

from lexigraft.comparison.affordable import Asked, reciprocal
from lexigraft.comparison.operating_points import with_rows
from lexigraft.comparison.prunings import BM25, PruningsOnValidation
from lexigraft.comparison.recommendation import Recommendation
from lexigraft.comparison.validation import CHOSEN_BY, DEPTH, validation_queries
from lexigraft.core.artifact import Manifest, read_manifest, write_json
from lexigraft.core.sealed_json import read_sealed
from lexigraft.core.settings import BLEND
from lexigraft.core.stored_record import record_of
from lexigraft.core.systems import System
from lexigraft.data.collection import QUERIES
from lexigraft.measure.compare import paired_test
from lexigraft.stages.ensure import Ensurer
from lexigraft.stages.finished_run import FinishedRun
from lexigraft.stages.layout import JUDGED
from lexigraft.stages.operating_point import OperatingPoint
from lexigraft.vectors import store as vectors_store
from lexigraft.vectors.blend import Blend, BlendedVectors, Parts
from lexigraft.vectors.store import open_vectors
from lexigraft.vocab.lookup import read_table

KIND, FORMAT_VERSION = "blend-choice", 1
FILE = "blend.json"
OWN = (0.0, 0.25, 0.5, 0.75, 1.0)
EXPANSION = (0.0, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0)
NOTHING = Blend(0.0, 0.0)  # of the model: BM25
CANDIDATES = tuple(Blend(own, expansion) for expansion in EXPANSION for own in OWN)
LEVEL = 0.05  # p, two-sided, at which a difference is taken for more than chance
QUERIES_AT_ONCE = 16


class ChosenBlend(NamedTuple):
    """`looked_at`: MRR@10 on the validation queries of every candidate; `p`: of what is taken against
    BM25, which has `bm25`."""

    own: float
    expansion: float
    scale: float
    why: str
    p: float | None
    bm25: float
    looked_at: list[dict[str, float]]

    @property
    def blend(self) -> Blend:
        return Blend(self.own, self.expansion)


def chosen_blend(run: FinishedRun, measured: PruningsOnValidation) -> tuple[System, ChosenBlend, Manifest]:
    """The model of a run that is blended into BM25, and how much of it."""
    model = next(one for one in run.systems() if one.asks_by_words)
    return model, *choose_blend(run, measured, model)


def choose_blend(run: FinishedRun, measured: PruningsOnValidation, model: System) -> tuple[ChosenBlend, Manifest]:
    """The blend of BM25 and a model that is best on validation queries, and its artifact, kept or made."""
    on = validation_queries(run, measured=False, system=model)
    indexes = {name: measured.index(name, 0).fingerprint for name in (BM25, model.name)}
    parents = {**indexes, "queries": run.collection.digest(QUERIES), "judgements": on.digest}
    config: dict[str, Any] = {"model": model.name, "candidates": [list(one) for one in CANDIDATES]}
    folder = run.folder.choice(BLEND, BLEND)  # beside that of its operating point

    def make(out: Path) -> None:
        vectors = blended_vectors(run, JUDGED, model)
        encoded = measured.encoded_queries(on, BM25)
        asked = with_rows(encoded, vectors.lexical.matrix.row_ids, vectors.lexical.passages)
        scale = vectors.scale()
        ranks = candidate_ranks(asked, list(vectors.chunks()), vectors.lexical.matrix.row_ids, scale)
        write_json(out / FILE, chosen(ranks, scale)._asdict())

    wanted = Manifest(KIND, FORMAT_VERSION, config, parents)
    made = measured.artifacts.ensure("evaluate", f"choose {BLEND}", folder, wanted, make)
    return record_of(folder / FILE, ChosenBlend, read_sealed(folder / FILE)), made


def blended_vectors(run: FinishedRun, view: str, model: System) -> BlendedVectors:
    """The vectors of BM25 and of a model in a view, opened to be blended."""
    lexical, of_model = (open_vectors(run.folder.vectors(view, name)) for name in (BM25, model.name))
    table = read_table(run.folder.of(model).model("finetuned")) if model.settings.model.queries == "table" else None
    return BlendedVectors(lexical, of_model, table)


def ensure_blended_vectors(
    run: FinishedRun, view: str, model: System, choice: ChosenBlend, choice_made: Manifest, artifacts: Ensurer
) -> Manifest:
    """The blended vectors of a view, of which BM25 and the model have theirs."""
    parents = {"choice": choice_made.fingerprint}
    for name in (BM25, model.name):
        made = read_manifest(run.folder.vectors(view, name))
        assert made is not None, "encoded before"
        parents[name] = made.fingerprint
    config = {"encoder": BLEND, "own": choice.own, "expansion": choice.expansion, "scale": choice.scale}

    def make(out: Path) -> None:
        blended_vectors(run, view, model).write(choice.blend, choice.scale, run.folder.vectors(view, BM25), out)

    wanted = Manifest(vectors_store.KIND, vectors_store.FORMAT_VERSION, config, parents)
    return artifacts.ensure("encode", f"encode {BLEND} ({view})", run.folder.vectors(view, BLEND), wanted, make)


def candidate_ranks(
    asked: Asked, chunks: Sequence[Parts], row_ids: Sequence[str], scale: float
) -> dict[Blend, NDArray[np.int64]]:
    """For each candidate the rank of every query's first relevant document, 0 where that is below the tenth. Scores are
    linear in the parts, so those are searched once for all candidates."""
    bm25, own, added = (vstack([parts[at] for parts in chunks], format="csr").T.tocsr() for at in range(3))
    order = np.empty(len(row_ids), np.int64)
    order[sorted(range(len(row_ids)), key=row_ids.__getitem__)] = np.arange(len(row_ids))
    vectors = asked.queries
    queries = csr_matrix(
        (np.asarray(vectors.weights), np.asarray(vectors.term_ids), np.asarray(vectors.indptr)),
        shape=(vectors.n_rows, vectors.n_terms),
    )
    found: dict[Blend, list[int]] = {candidate: [] for candidate in CANDIDATES}
    for start in range(0, vectors.n_rows, QUERIES_AT_ONCE):
        some = queries[start : start + QUERIES_AT_ONCE]
        scores = [np.asarray((some @ part).todense()) for part in (bm25, own, added)]
        for candidate, ranks in found.items():
            weights = 1 - candidate.own, candidate.own * scale, candidate.expansion * scale
            total = sum(weight * of_part for weight, of_part in zip(weights, scores, strict=True))
            relevant = asked.relevant[start : start + QUERIES_AT_ONCE]
            ranks += [first_rank(row, rows, order) for row, rows in zip(np.asarray(total), relevant, strict=True)]
    return {candidate: np.array(ranks, np.int64) for candidate, ranks in found.items()}


def first_rank(scores: NDArray[np.float64], relevant: NDArray[np.int64], order: NDArray[np.int64]) -> int:
    """The rank of the best relevant row, from 1 to 10, else 0; equal scores rank by document id, whose `order` is
    given."""
    if not len(relevant) or not (best := scores[relevant].max()) > 0:
        return 0
    place = order[relevant[scores[relevant] == best]].min()
    ahead = int((scores > best).sum() + ((scores == best) & (order < place)).sum())
    return ahead + 1 if ahead < DEPTH else 0


def chosen(ranks: dict[Blend, NDArray[np.int64]], scale: float) -> ChosenBlend:
    """The candidate that is taken: the least expansion, then the least of the model in own terms, that is not more than
    a standard error below the best; nothing of the model where even that is not ahead of BM25 by more than chance."""
    worth = {candidate: reciprocal(of_one) for candidate, of_one in ranks.items()}
    mean = {candidate: float(values.mean()) for candidate, values in worth.items()}
    best = max(mean, key=lambda candidate: (mean[candidate], -candidate.expansion, -candidate.own))
    behind = {candidate: worth[best] - values for candidate, values in worth.items()}
    n = len(worth[best])
    error = {one: values.std(ddof=1) / np.sqrt(n) if n > 1 else 0.0 for one, values in behind.items()}
    close = [one for one, values in behind.items() if values.mean() <= error[one]]
    taken = min(close, key=lambda one: (one.expansion, one.own))
    test = paired_test((worth[taken] - worth[NOTHING]).tolist())
    ahead = test.difference > 0 and test.p is not None and test.p < LEVEL
    n_queries, bm25 = len(worth[NOTHING]), mean[NOTHING]
    on = f"{CHOSEN_BY} {mean[taken]:.4f} on {n_queries:,} made queries that were held out, where BM25 has {bm25:.4f}"
    if taken != NOTHING and ahead:
        why = f"{taken.own:g} of the model in own terms, {taken.expansion:g} in added ones: {on} (p = {test.p:.2g})"
    else:
        taken, why = NOTHING, f"BM25 as it is: no blend with the model is clearly ahead on {n_queries:,} made queries"
    looked_at = [{**one._asdict(), CHOSEN_BY: value} for one, value in mean.items()]
    return ChosenBlend(taken.own, taken.expansion, scale, why, test.p, bm25, looked_at)


def recommend_blend(choice: ChosenBlend, point: OperatingPoint) -> Recommendation:
    """The system that a search takes where all that is known was chosen by made queries. A blend must be ahead of BM25
    cut to its operating `point`, too."""
    if choice.blend != NOTHING and point.mrr is not None and point.mrr <= choice.bm25:
        why = f"the blend has MRR@10 {point.mrr:.4f} within the cost of BM25, which has {choice.bm25:.4f}: no more"
        return Recommendation(BM25, why)
    return Recommendation(BM25 if choice.blend == NOTHING else BLEND, choice.why)
