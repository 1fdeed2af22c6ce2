"""Whatever a measure is called, it gives a number from 0 to 1 or one line of error, and never ends the process."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lexigraft.core.errors import LexigraftError
from lexigraft.core.types import Ranking
from lexigraft.measure.measures import measure, trec_eval_available

FAMILIES = (
    *"nDCG NDCG R Recall RR MRR P AP Success SetP SetR SetF SetAP".split(),
    *"Bpref infAP IPrec Rprec Judged Compat NumRel INST".split(),
)
NUMBERS = ["0", "1", "-1", "10", "1.5", "1e400", "nan", "inf", "2147483648", "9" * 20, "9" * 90, "None", "True", "''"]
KEYS = ["cutoff", "rel", "judged_only", "dcg", "gains", "p", "T", "beta", "min_rel", "max_rel", "recall", "relative"]
VALUES = [*NUMBERS, "'exp-log2'", "{0: 1}", "{1: 99999999999}", "[1]", "{1: None}", "()", "__import__('os')"]

parameters = st.lists(st.tuples(st.sampled_from(KEYS), st.sampled_from(VALUES)), max_size=3)
names = st.one_of(
    st.builds(
        lambda family, inside, cutoff: family + _inside(inside) + cutoff,
        st.sampled_from(FAMILIES), parameters, st.sampled_from(["", *(f"@{number}" for number in NUMBERS)]),
    ),
    st.text(max_size=30),
    st.text("nDCGR@()=0123,.{}[]'\"", max_size=30),
)  # fmt: skip


def _inside(given: list[tuple[str, str]]) -> str:
    return f"({', '.join(f'{key}={value}' for key, value in given)})" if given else ""


@pytest.mark.skipif(not trec_eval_available(), reason="trec_eval is not installed on this machine")
@settings(max_examples=300, deadline=None)
@given(names)
def test_a_measure_is_a_number_or_one_line(name):
    judged = {"1": {"a": 2, "b": 0, "c": -1}, "2": {"d": 1}}
    try:
        [found] = measure([Ranking("1", ("b", "a", "x"), (3.0, 2.0, 1.0))], judged, [name])
    except LexigraftError as error:
        assert len(str(error).splitlines()) == 1 and len(str(error)) < 600
        return
    assert set(found.per_query) == {"1", "2"}
    assert all(math.isfinite(value) for value in found.per_query.values())
