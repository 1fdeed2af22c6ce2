"""Wackiness on disk: the files of a `wackiness` artifact.

scores.npy      float32 [terms]         NaN for a term that was never an expansion
counts.npy      int64 [terms]           how many inputs it expanded
curves.npy      float64 [runs, bins]    the curve of each draw of inputs
areas.npy       float64 [runs]          W-AUC of each; areas_whole.npy over the whole vocabulary
terms.*                                 the vocabulary
facts.json                              its fingerprint, and what was counted on the way
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lexigraft.core.arrays import StringTable, open_array, write_strings
from lexigraft.core.artifact import open_artifact, write_json
from lexigraft.core.made_here import validate_unless_known
from lexigraft.core.pinned import of_one_version
from lexigraft.core.sealed_json import read_sealed
from lexigraft.core.stored_record import COUNT, require_fields, whole
from lexigraft.core.types import Vocabulary, require_same_vocabulary
from lexigraft.core.validation import require_finite, require_length, require_within, wrong
from lexigraft.explain.wackiness import TermScores
from lexigraft.explain.wackiness_curve import CurveRuns
from lexigraft.vectors.validate import validate_tables

KIND, FORMAT_VERSION = "wackiness", 1
ROUNDING = 1e-6  # of means of numbers up to 1


@dataclass(frozen=True)
class Wackiness:
    """What is known of one expander's terms on one side; `facts` has what else was counted."""

    terms: TermScores
    runs: CurveRuns
    vocabulary: Vocabulary
    vocab_fingerprint: str
    facts: Mapping[str, Any]
    fingerprint: str  # of the artifact

    def require_vocabulary(self, name: str, fingerprint: str) -> None:
        """Raise unless what is called `name` has the vocabulary that was scored."""
        require_same_vocabulary("the wackiness scores", self.vocab_fingerprint, name, fingerprint)


def write_wackiness(
    folder: Path, terms: TermScores, runs: CurveRuns, vocabulary: Vocabulary, facts: Mapping[str, Any]
) -> None:
    """Write the files into `folder`."""
    np.save(folder / "scores.npy", terms.scores)
    np.save(folder / "counts.npy", terms.counts)
    np.save(folder / "curves.npy", runs.curves)
    np.save(folder / "areas.npy", runs.areas)
    np.save(folder / "areas_whole.npy", runs.areas_whole)
    write_strings(folder, "terms", vocabulary.terms)
    stored = {
        "vocab_fingerprint": vocabulary.fingerprint,
        "largest_mean": terms.largest_mean,
        "largest_term": terms.largest_term,
        "n_drawn": runs.n_drawn,
        **facts,
    }
    write_json(folder / "facts.json", stored)


@of_one_version
def open_wackiness(folder: Path) -> Wackiness:
    """The wackiness at `folder`, such as OUT/NAME/queries of `lexigraft wackiness`."""
    manifest = open_artifact(folder, KIND, FORMAT_VERSION)
    facts, file = read_sealed(folder / "facts.json"), folder / "facts.json"
    vocabulary = Vocabulary(StringTable(folder, "terms"))
    a_term = whole(-1, len(vocabulary) - 1)
    expected = {"vocab_fingerprint": str, "largest_mean": float, "largest_term": a_term, "n_drawn": COUNT}
    require_fields(file, facts, expected, needed=expected)
    scores, counts = open_array(folder / "scores.npy", np.float32), open_array(folder / "counts.npy", np.int64)
    curves = open_array(folder / "curves.npy", np.float64, dimensions=2)
    areas, of_all = (open_array(folder / f"{name}.npy", np.float64) for name in ("areas", "areas_whole"))
    found = Wackiness(
        TermScores(scores, counts, facts["largest_mean"], facts["largest_term"]),
        CurveRuns(curves, areas, of_all, facts["n_drawn"]),
        vocabulary,
        facts["vocab_fingerprint"],
        facts,
        manifest.fingerprint,
    )
    validate_unless_known(folder, manifest, True, lambda: _validate(folder, found))
    return found


def _validate(folder: Path, found: Wackiness) -> None:
    """Raise `ArtifactError` unless there is a score of each term, from 0 to 1 where it expanded something, and every
    draw has a curve and its areas: whoever ranks terms by these would take other numbers as they come."""
    terms, runs, n_terms = found.terms, found.runs, len(found.vocabulary)
    validate_tables(folder, (found.vocabulary.terms,), {"terms": n_terms})
    if found.vocabulary.fingerprint != found.vocab_fingerprint:
        raise wrong(folder / "terms.utf8", "holds other terms than facts.json says")
    require_length(folder / "scores.npy", len(terms.scores), n_terms)
    require_length(folder / "counts.npy", len(terms.counts), n_terms)
    require_within(folder / "counts.npy", terms.counts, 0, 1 << 62)
    if not np.array_equal(np.isnan(terms.scores), terms.counts == 0):
        raise wrong(folder / "scores.npy", "has no score of a term that expanded something, or one of another")
    require_finite(folder / "scores.npy", terms.scores[terms.counts > 0], 0, 1)
    for name, array in {"curves": runs.curves, "areas": runs.areas, "areas_whole": runs.areas_whole}.items():
        require_length(folder / f"{name}.npy", len(array), len(runs.curves), "draws")
        require_finite(folder / f"{name}.npy", array[~np.isnan(array)], 0, 1 + ROUNDING)
