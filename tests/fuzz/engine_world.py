"""A small index that is loaded into engines, and what an engine must hold of it, whatever was killed meanwhile."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from lexigraft.core.artifact import Manifest
from lexigraft.engines.engine import Row
from lexigraft.engines.loading import load_index
from lexigraft.engines.rows_of_index import batches_of
from lexigraft.index.metadata import open_metadata
from lexigraft.index.metadata_columns import GivenMetadata, write_metadata
from lexigraft.index.metadata_files import FORMAT_VERSION, KIND
from tests.conftest import index_of, sparse_matrix
from tests.engines.stored_rows import expected_rows, rows_in

N_ROWS, N_TERMS, BATCH = 2000, 150, 25  # a note every 400 rows


class World:
    """A small index, and what an engine must hold of it."""

    def __init__(self, root: Path) -> None:
        rng = np.random.default_rng(3)
        made = [
            {int(t): float(rng.integers(1, 256)) for t in rng.choice(N_TERMS, 12, replace=False)} for _ in range(N_ROWS)
        ]
        self.index = index_of(sparse_matrix(made, N_TERMS), root / "index", scale=1.0)
        years = ((f"d{number}", {"year": 1900 + number % 120}) for number in range(N_ROWS))
        given = GivenMetadata().add_all(years).table()
        write_metadata(root / "metadata", Manifest(KIND, FORMAT_VERSION, {}), self.index, given)
        self.metadata = open_metadata(root / "metadata", self.index)
        self.rows: list[Row] = [row for batch in batches_of(self.index, self.metadata, 0, N_ROWS) for row in batch]

    def load(self, engine: Any) -> None:
        load_index(self.index, engine, "/there", "it", self.metadata, batch_rows=BATCH)

    def require_what_was_noted(self, scheme: str, engine: Any) -> int:
        """After a kill: the rows up to `n_loaded` are there, and none twice. Returns how many that are."""
        description = engine.describe()
        if description is None:
            return 0
        found, noted = rows_in(scheme, engine), expected_rows(self.rows[: description.n_loaded])
        assert not noted - found, f"{(noted - found).total()} rows that were noted as loaded are not there"
        self._require_no_others(found)
        return int(description.n_loaded)

    def require_all(self, scheme: str, engine: Any) -> None:
        assert engine.describe().is_complete
        found = rows_in(scheme, engine)
        assert engine.count() == found.total() == N_ROWS, (engine.count(), found.total())
        self._require_no_others(found)

    def _require_no_others(self, found: Counter[Any]) -> None:
        others = found - expected_rows(self.rows)
        assert not others, f"{others.total()} rows are there twice, or are others: {list(others)[:2]}"
