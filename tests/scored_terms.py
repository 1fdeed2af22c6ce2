"""Wackiness scores as `lexigraft wackiness` writes them, for a vocabulary of a test."""

from pathlib import Path

import numpy as np

from lexigraft.core.artifact import Manifest, write_artifact
from lexigraft.core.types import Vocabulary
from lexigraft.explain.wackiness import TermScores
from lexigraft.explain.wackiness_curve import CurveRuns
from lexigraft.explain.wackiness_store import FORMAT_VERSION, KIND, write_wackiness


def write_scores(folder: Path, vocabulary: Vocabulary, n_scored: int) -> None:
    """The first `n_scored` terms have scores, from 0 on; the others were never an expansion."""
    size = len(vocabulary.terms)
    scores, counts = np.full(size, np.nan, np.float32), np.zeros(size, np.int64)
    scores[:n_scored], counts[:n_scored] = np.arange(n_scored) / max(1, n_scored), 1
    runs = CurveRuns(np.zeros((1, 2)), np.zeros(1), np.zeros(1), 1)
    with write_artifact(folder, Manifest(KIND, FORMAT_VERSION, {})) as draft:
        write_wackiness(draft, TermScores(scores, counts, 0.25, 0), runs, vocabulary, {})
