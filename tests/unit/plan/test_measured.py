"""The rates that a plan goes by are those of docs/results."""

import json
from pathlib import Path

import pytest

from lexigraft.core.errors import InputError
from lexigraft.plan.arithmetic import Point, Rates
from lexigraft.plan.measured import MEASURED, SOURCES, parse_latency

RESULTS = Path(__file__).parents[3] / "docs/results"


def read(name):
    return json.loads((RESULTS / name).read_text())


def test_every_rate_names_a_file_that_is_there():
    assert {*SOURCES, "curve_postings"} == set(Rates.__dataclass_fields__)
    assert all((RESULTS / source.partition(":")[0]).is_file() for source in SOURCES.values())


def test_rates_of_the_gpu():
    step = read("training_step.json")
    assert (step["batch"], step["query_length"], step["document_length"]) == (512, 20, 40)
    subwords = 512 * (15 + 30)  # bench/training_step.py draws lengths evenly from the half to the whole
    assert MEASURED.gpu_subwords == pytest.approx(1000 * subwords / step["runs"][0]["ms_by_phase"]["forward"])
    assert MEASURED.step_ms == step["runs"][0]["ms_a_step"]


def test_rate_of_a_core():
    found = read("encoding_documents.json")["debian_desc2title"]["1 core"]["lexigraft 8 bits"]
    assert MEASURED.core_subwords == found["tokens_per_s"]


def test_rates_of_the_index():
    points = read("ten_million.json")["points"]
    largest = points[-1]
    assert MEASURED.posting_bytes == largest["bytes_a_posting_lists"]
    assert MEASURED.document_bytes == largest["bytes_a_document_other"]
    assert MEASURED.build_documents == largest["documents_a_cpu_second"]
    assert MEASURED.curve_postings == pytest.approx(largest["postings_a_query"] / largest["documents"], rel=1e-3)
    searches = [(point["documents"], point["searches"][0]) for point in points]
    assert all((found["k"], found["threads"]) == (10, 1) for _, found in searches)
    assert list(MEASURED.curve) == [Point(n, found["cpu_p50_ms"], found["cpu_p99_ms"]) for n, found in searches]


def test_a_point_of_a_curve():
    assert parse_latency("1e6:0.7:1.5") == Point(1e6, 0.7, 1.5)


@pytest.mark.parametrize(
    "given", ["", "1e6", "1e6:1", "a:b:c", "1e6:2:1", "0:1:2", "nan:1:2", "1e6:nan:2", "1e6:1:inf"]
)
def test_what_is_no_point_is_one_line(given):
    with pytest.raises(InputError, match="--latency") as raised:
        parse_latency(given)
    assert "\n" not in str(raised.value)
