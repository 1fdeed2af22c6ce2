"""Conditions on metadata give exactly the rows whose documents fulfil them, whatever the order of the index."""

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from lexigraft.core.artifact import Manifest
from lexigraft.core.settings import IndexSettings
from lexigraft.data.readers.metadata import _plain as as_read
from lexigraft.index import metadata_files as store
from lexigraft.index.metadata import open_metadata
from lexigraft.index.metadata_columns import GivenMetadata, write_metadata
from lexigraft.search.conditions import parse_condition
from lexigraft.search.filters import filter_masks
from tests.conditions import FULL, RECORD, TREES, as_text, fulfils
from tests.conftest import index_of, sparse_matrix

MANIFEST = Manifest(store.KIND, store.FORMAT_VERSION, {})


@settings(max_examples=200)
@given(
    st.lists(RECORD, max_size=12), st.lists(TREES, min_size=1, max_size=6), st.booleans(), st.booleans(),
    st.booleans(), st.randoms(use_true_random=False),
)  # fmt: skip
def test_mask_equals_looking_at_every_record(records, trees, plain, reorder, kept, random):
    """`kept`: the columns were written before, and a second call kept them."""
    records = [FULL, *records]
    ids = [f"d{number}" for number in range(len(records))]
    random.shuffle(ids)
    by_id = dict(zip(ids, records, strict=True))
    rows = [{number % 3: 1.0, 3: 2.0} for number in range(len(ids))]
    with tempfile.TemporaryDirectory() as folder:
        index = index_of(sparse_matrix(rows, 4, ids), Path(folder) / "i", settings=IndexSettings(reorder=reorder))
        out = Path(folder) / "m"
        given = GivenMetadata().add_all((doc_id, as_read(record)) for doc_id, record in by_id.items())
        write_metadata(out, MANIFEST, index, given.table())
        if kept:
            more = GivenMetadata().add_all([(ids[0], {"more": 1})]).table()
            write_metadata(Path(folder) / "again", MANIFEST, index, more, former=store.former_table(out))
            out = Path(folder) / "again"
        metadata = open_metadata(out, index)
        for tree in trees:
            (mask,) = filter_masks(metadata, [parse_condition(as_text(tree, plain))])
            assert mask.astype(bool).tolist() == [fulfils(by_id[doc_id], tree) for doc_id in index.doc_ids]
        (mask,) = filter_masks(metadata, [parse_condition(as_text(tree, plain)) for tree in trees])
        expected = [all(fulfils(by_id[doc_id], tree) for tree in trees) for doc_id in index.doc_ids]
        assert mask.astype(bool).tolist() == expected
