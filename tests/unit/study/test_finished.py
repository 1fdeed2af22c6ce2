"""The small JSON of a training: what was written is read, and nothing else is believed."""

import json

import numpy as np
import pytest

from lexigraft.core.errors import ArtifactError
from lexigraft.study.finished import Training, file_of, read_all, read_finished, read_ranks, write_finished, write_ranks
from tests.unit.study.trainings import finished, point


def test_a_letter_a_query_holds_its_rank():
    ranks = [0, 1, 9, 10, 3]
    assert write_ranks(ranks) == "019A3"
    assert read_ranks("019A3").tolist() == ranks
    one = point(ranks)
    assert one.reciprocal_ranks == pytest.approx([0, 1, 1 / 9, 0.1, 1 / 3])
    assert one.mrr == pytest.approx((1 + 1 / 9 + 0.1 + 1 / 3) / 5)


def test_what_is_written_is_read(tmp_path):
    one = finished("a", 3, {"whole": point([1, 0, 10]), "(5,10)": point([2, 2, 0], qk=0.5, dk=7)}, weight=0.3)
    write_finished(tmp_path, one)
    path = file_of(tmp_path, one.training)
    assert path.name == "c--a--w0.3--s3.json"
    assert read_finished(path) == one
    assert read_all(tmp_path, "s", "gpu") == [one]


def test_thousands_of_queries_stay_small(tmp_path):
    ranks = np.random.default_rng(0).choice([0, 1, 2, 5], 2500)
    points = {f"p{i}": point(ranks) for i in range(8)}
    write_finished(tmp_path, finished("a", 0, points))
    assert file_of(tmp_path, Training("c", "a", None, 0)).stat().st_size < 16_000


@pytest.mark.parametrize("damage", [b"", b"{}", b"[1]", b"not json"])
def test_a_file_of_another_kind_is_named(tmp_path, damage):
    path = tmp_path / "x.json"
    path.write_bytes(damage)
    with pytest.raises(ArtifactError, match=r"x\.json is not what a training of a study leaves"):
        read_finished(path)


def test_ranks_that_were_damaged_are_named(tmp_path):
    one = finished("a", 0, {"whole": point([1, 2])})
    write_finished(tmp_path, one)
    path = file_of(tmp_path, one.training)
    told = json.loads(path.read_text())
    told["points"]["whole"]["ranks"] = "AAAA"
    path.write_text(json.dumps(told))
    with pytest.raises(ArtifactError, match="is not what a training"):
        read_finished(path)


def test_another_version_says_so(tmp_path):
    write_finished(tmp_path, finished("a", 0, {}))
    path = file_of(tmp_path, Training("c", "a", None, 0))
    path.write_text(path.read_text().replace('"format": 1', '"format": 2'))
    with pytest.raises(ArtifactError, match="of another version of Lexigraft"):
        read_finished(path)


def test_studies_and_scales_are_not_mixed(tmp_path):
    write_finished(tmp_path, finished("a", 0, {}))
    with pytest.raises(ArtifactError, match="of the study s at scale gpu; give each study and scale a folder"):
        read_all(tmp_path, "s", "tiny")


def test_trainings_on_other_queries_are_not_compared(tmp_path):
    from lexigraft.study.design import Arm, Study
    from lexigraft.study.evidence import evidence_of
    from lexigraft.study.regime import plan_of, scale_of

    study = Study("s", "S", "P", "w", (), (Arm("a", ""),), (), ())
    made_by = {"plan": plan_of(study, study.arms[0], scale_of("gpu"))}
    write_finished(tmp_path, finished("a", 0, {"whole": point([1])})._replace(made_by=made_by))
    write_finished(tmp_path, finished("a", 1, {"whole": point([1])})._replace(made_by=made_by))
    assert evidence_of(tmp_path, study, "gpu").seeds("c", "a") == [0, 1]
    write_finished(tmp_path, finished("a", 1, {"whole": point([1, 1])})._replace(queries="others", made_by=made_by))
    with pytest.raises(ArtifactError, match=r"s1\.json and .*s0\.json were measured on different queries of c"):
        evidence_of(tmp_path, study, "gpu")


def test_trainings_of_a_former_plan_are_not_counted(tmp_path):
    from lexigraft.study.design import Arm, Study
    from lexigraft.study.evidence import evidence_of
    from lexigraft.study.regime import plan_of, scale_of

    study = Study("s", "S", "P", "w", (), (Arm("a", ""),), (), ())
    changed = study._replace(arms=(Arm("a", "", ("model.layers=2",)),))
    for seed, of in enumerate((study, changed)):
        made_by = {"plan": plan_of(of, of.arms[0], scale_of("gpu"))}
        write_finished(tmp_path, finished("a", seed, {"whole": point([1])})._replace(made_by=made_by))
    found = evidence_of(tmp_path, study, "gpu")
    assert (found.seeds("c", "a"), found.n_former) == ([0], 1)
    assert evidence_of(tmp_path, changed, "gpu").seeds("c", "a") == [1]
