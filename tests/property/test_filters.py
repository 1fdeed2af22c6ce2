"""Conditions on metadata give exactly the rows whose documents fulfil them, whatever the order of the index."""

import operator
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from lexigraft.core.artifact import Manifest, write_artifact
from lexigraft.core.settings import IndexSettings
from lexigraft.index import metadata as store
from lexigraft.index.metadata import documents_in_order, open_metadata
from lexigraft.index.metadata_columns import ColumnsBuilder
from lexigraft.search.filters import Condition, filter_mask
from tests.conftest import index_of, sparse_matrix

SIGNS = {"=": operator.eq, "!=": operator.ne, ">=": operator.ge, "<=": operator.le}
RECORDS = st.lists(
    st.fixed_dictionaries({}, optional={"year": st.integers(-3, 3), "venue": st.sampled_from("abcdé") | st.just("ab")}),
    min_size=1,
    max_size=12,
).filter(lambda records: any("year" in record for record in records) and any("venue" in record for record in records))


def fulfils(record, condition):
    """The slow, obvious twin."""
    if condition.key not in record:
        return condition.sign == "!="
    value = float(condition.value) if condition.key == "year" else condition.value
    return SIGNS[condition.sign](record[condition.key], value)


CONDITIONS = st.lists(
    st.builds(Condition, st.just("year"), st.sampled_from(list(SIGNS)), st.integers(-4, 4).map(str))
    | st.builds(Condition, st.just("venue"), st.sampled_from(list(SIGNS)), st.sampled_from(["", "a", "aa", "c", "z"])),
    max_size=3,
)


@settings(max_examples=100)
@given(RECORDS, CONDITIONS, st.booleans(), st.randoms(use_true_random=False))
def test_mask_equals_looking_at_every_record(records, conditions, reorder, random):
    ids = [f"d{number}" for number in range(len(records))]
    random.shuffle(ids)
    by_id = dict(zip(ids, records, strict=True))
    rows = [{number % 3: 1.0, 3: 2.0} for number in range(len(ids))]
    with tempfile.TemporaryDirectory() as folder:
        index = index_of(sparse_matrix(rows, 4, ids), Path(folder) / "i", settings=IndexSettings(reorder=reorder))
        builder = ColumnsBuilder(documents_in_order(index))
        builder.add(by_id.items())
        with write_artifact(Path(folder) / "m", Manifest(store.KIND, store.FORMAT_VERSION, {})) as draft:
            builder.write(draft)
        mask = filter_mask(index, open_metadata(Path(folder) / "m", index), conditions)
        expected = [all(fulfils(by_id[doc_id], condition) for condition in conditions) for doc_id in index.doc_ids]
        assert mask.astype(bool).tolist() == expected
