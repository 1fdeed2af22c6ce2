"""However documents and their metadata came into a live index, they are found by the conditions by which an index that
was made at once of the living ones finds them: mixed kinds, missing values, keys that some segments have, passages."""

import shutil
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from lexigraft.core.artifact import Manifest
from lexigraft.core.dates import read_period
from lexigraft.core.errors import InputError, SettingError
from lexigraft.index.live.opening import create_live, open_writer
from lexigraft.index.live.reader import open_live
from lexigraft.index.metadata import metadata_of_live, open_metadata
from lexigraft.index.metadata_columns import GivenMetadata, write_metadata
from lexigraft.index.metadata_files import FORMAT_VERSION, KIND
from lexigraft.search.conditions import parse_condition
from lexigraft.search.filters import filter_masks
from lexigraft.serve.metadata_fields import fields_of
from tests.conditions import DATES, TAGS, VENUES
from tests.live import given_metadata, named_by_state, shown_metadata, vectors_of
from tests.property.test_two_step import built

QUICK = next((path for path in ("/dev/shm",) if Path(path).is_dir()), None)  # every step waits for the disk otherwise
IDS = st.sampled_from([f"d{number}" for number in range(10)])
# Of every sort of value some that read alike, so that a column is now of one kind and then of another.
SINGLE = st.sampled_from([1, 2, 2.5, 2023, "1", "2", "2023", "2024", 2**60, str(2**60), *DATES, *VENUES[:4], *TAGS])
VALUE = SINGLE | st.lists(SINGLE, max_size=3).map(tuple)
KEYS = ("year", "published", "venue", "tags", "other key")
RECORD = st.dictionaries(st.sampled_from(KEYS), VALUE, max_size=4) | st.fixed_dictionaries(
    {}, optional={"year": st.integers(2020, 2024), "published": st.sampled_from(list(DATES)), "tags": st.just(("a",))}
)
RECORDS = st.dictionaries(IDS, RECORD, min_size=1, max_size=4)
ASKED = ("= 2", "= 2023", "!= a", 'in (1, "ab")', "> 2", "<= 2023-12", '>= "ab"', "has 2", 'has "draft"', "has 2.5")
CONDITIONS = [f'"{key}" {test}' for key in KEYS for test in ASKED] + [f"not {KEYS[0]} = 2", "year > 1 or tags has 2"]


def outcome(metadata, text):
    """The documents that fulfil a condition, or what it says instead."""
    try:
        masks = filter_masks(metadata, [parse_condition(text)])
    except SettingError as error:
        return str(error)
    found = set()
    for segment, mask in zip(metadata.segments, masks, strict=True):
        for row, (doc_id, flag) in enumerate(zip(segment.index.doc_ids, mask.tolist(), strict=True)):
            if flag and (segment.allowed is None or segment.allowed[row]):
                found.add(doc_id)
    return found


def kind_of(values):
    """The rule, value by value."""
    singles = [one for value in values for one in (value if isinstance(value, tuple) else (value,))]
    of_numbers = all(isinstance(one, float) or (isinstance(one, int) and abs(one) <= 2**53) for one in singles)
    if any(isinstance(value, tuple) for value in values):
        return "list", "number" if of_numbers and singles else "text"
    if of_numbers:
        return "number", ""
    dates = [one for one in singles if isinstance(one, str) and read_period(one) is not None]
    return "date" if len(dates) == len(singles) and any("-" in one for one in dates) else "text", ""


class LiveMetadataMachine(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(dir=QUICK))
        self.path, self.records = self.folder / "live", {}

    def teardown(self):
        shutil.rmtree(self.folder)

    def vectors(self, doc_ids):
        row = [{0: 1.0}, {1: 2.0}] if self.passages else {0: 1.0}
        return vectors_of(dict.fromkeys(doc_ids, row), 2, self.passages)

    @initialize(passages=st.booleans(), records=RECORDS)
    def begin(self, passages, records):
        self.passages = passages
        with create_live(self.path) as writer:
            writer.append(self.vectors(records), metadata=given_metadata(records))
        self.records = dict(records)

    @rule(records=RECORDS, known=st.booleans())
    def add(self, records, known):
        """`known`: something is said of the documents, beside their texts."""
        with open_writer(self.path) as writer:
            metadata = given_metadata(records) if known else None
            writer.append(self.vectors(records), replacing=True, metadata=metadata)
        self.records.update(records if known else {key: {} for key in records})

    @rule(doc_ids=st.sets(IDS, min_size=1, max_size=4))
    def delete(self, doc_ids):
        with open_writer(self.path) as writer:
            writer.delete(doc_ids, "ok")
        self.records = {doc_id: record for doc_id, record in self.records.items() if doc_id not in doc_ids}

    @rule(everything=st.booleans())
    def merge(self, everything):
        with open_writer(self.path) as writer:
            writer.merge(everything)

    @rule(records=RECORDS, replacing=st.booleans())
    def set_metadata(self, records, replacing):
        known = {doc_id: record for doc_id, record in records.items() if doc_id in self.records}
        with open_writer(self.path) as writer:
            if not known or not any(records.values()):
                with pytest.raises(InputError, match="nothing to filter by"):
                    writer.set_metadata(given_metadata(records)(), replacing)
                return
            writer.set_metadata(given_metadata(records)(), replacing)
        before = {key: {} for key in self.records} if replacing else self.records
        self.records = {**before, **{doc_id: {**before[doc_id], **record} for doc_id, record in known.items()}}

    @rule(conditions=st.lists(st.sampled_from(CONDITIONS), min_size=5, max_size=5))
    def is_as_if_made_at_once(self, conditions):
        live = open_live(self.path, checksums=False)
        found = metadata_of_live(live)
        if not any(self.records.values()):
            assert found is None
            return
        index = built(self.vectors(self.records), self.folder / "i")
        given_at_once = GivenMetadata().add_all(self.records.items()).table()
        write_metadata(self.folder / "m", Manifest(KIND, FORMAT_VERSION, {}), index, given_at_once)
        at_once = open_metadata(self.folder / "m", index)
        assert dict(found.columns) == dict(at_once.columns)
        for key, column in found.columns.items():
            assert (column.kind, column.of) == kind_of([one[key] for one in self.records.values() if key in one])
        for condition in conditions:
            assert outcome(found, condition) == outcome(at_once, condition), condition
        by_name = {field["name"]: field for field in fields_of(found)}
        assert by_name == {field["name"]: field for field in fields_of(at_once)}
        shown = {}
        for row, doc_id in enumerate(index.names(np.arange(index.n_documents, dtype=np.int32))):
            if values := at_once.of_row(index, row):
                shown[doc_id] = values
        assert shown_metadata(live) == shown

    @invariant()
    def nothing_is_left_over(self):
        if self.path.exists():
            named = named_by_state(self.path)
            assert {name: {path.name for path in (self.path / name).iterdir()} for name in named} == named


TestLiveMetadata = LiveMetadataMachine.TestCase
TestLiveMetadata.settings = settings(max_examples=15, stateful_step_count=10)
