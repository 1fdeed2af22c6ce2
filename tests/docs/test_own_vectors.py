"""The how-to of own vectors: what its lines of Python write is what is read."""

from pathlib import Path

import numpy as np
import pytest

from lexigraft.grafted.given_vectors import write_given_vectors
from tests.docs.snippets import run_python, snippets_of

PAGE = Path(__file__).parents[2] / "docs/howto/own_vectors.md"
TEXTS = {f"d{n}": f"text {n}" if n % 7 else "" for n in range(2500)}


def embed(texts):
    return [[len(text), sum(map(ord, text)), 1.0] for text in texts]


def test_what_a_service_gives_is_kept_and_read(monkeypatch, tmp_path):
    pytest.importorskip("pyarrow")
    monkeypatch.chdir(tmp_path)
    by_service, of_windows = [snippet for snippet in snippets_of(PAGE) if "embed(" in snippet.body]
    names = {"ids": list(TEXTS), "texts": list(TEXTS.values()), "embed": embed, "numpy": np}
    run_python(by_service, PAGE, names)
    assert sorted(part.name for part in Path("vectors").iterdir()) == [f"{n:09}.parquet" for n in (0, 1000, 2000)]
    run_python(by_service, PAGE, {**names, "embed": None})  # all is there, and nothing is asked for
    meta = write_given_vectors(Path("vectors"), list(TEXTS), tmp_path, without_text=range(0, 2500, 7))
    assert (meta.n_rows, meta.width, meta.n_without, meta.n_unknown) == (2500, 3, 358, 0)
    run_python(of_windows, PAGE, names)
    found = names["vector_of"]("one two three four five", words=2)
    parts = [np.array(embed([text])[0]) for text in ("one two", "three four", "five")]
    assert np.allclose(found, np.mean([part / np.linalg.norm(part) for part in parts], axis=0), atol=1e-6)
    assert len(names["vector_of"]("")) == 3
