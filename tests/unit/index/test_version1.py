"""Format 1 over more than one range: the same lists as those of an index that is built now."""

import json
import shutil

import numpy as np

from lexigraft.core.artifact import Manifest, write_artifact
from lexigraft.index.store import KIND, open_index
from tests.conftest import index_of, sparse_matrix


def test_two_ranges(tmp_path):
    rows = [{number % 3: 1.0 + number % 5} for number in range(65540)]
    rows[65535][3] = rows[65536][3] = 255.0
    now = index_of(sparse_matrix(rows, 5), tmp_path / "now")
    postings = [now.postings(term) for term in range(5)]
    with write_artifact(tmp_path / "before", Manifest(KIND, 1, {})) as folder:
        for name in ("doc_ids", "titles", "terms"):
            for ending in ("utf8", "offsets.npy"):
                shutil.copy(tmp_path / "now" / f"{name}.{ending}", folder)
        np.save(folder / "indptr.npy", np.cumsum([0, *now.lengths.tolist()]))
        np.save(folder / "doc_ordinals.npy", np.concatenate([ordinals for ordinals, _ in postings]))
        np.save(folder / "impacts.npy", np.concatenate([impacts for _, impacts in postings]).astype(np.uint8))
        np.save(folder / "list_max.npy", now.list_max.astype(np.uint8))
        np.save(folder / "tie_rank.npy", now.tie_rank)
        meta = json.loads((tmp_path / "now/meta.json").read_text())
        for name in ("bits", "range_size", "reordered"):  # which format 1 did not have
            del meta[name]
        (folder / "meta.json").write_text(json.dumps(meta))
    before = open_index(tmp_path / "before")
    for name in ("entries", "stream", "range_starts", "lengths", "list_max", "tie_rank"):
        np.testing.assert_array_equal(getattr(before, name), getattr(now, name), err_msg=name)
