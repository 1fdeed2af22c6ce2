"""`--from STAGE` makes an artifact anew once a call, also where several systems of a run share it."""

from dataclasses import replace

from lexigraft.core.artifact import Manifest
from lexigraft.stages.ensure import Ensurer
from lexigraft.stages.layout import RunFolder


def test_what_two_systems_share_is_made_anew_for_the_first_alone(tmp_path):
    made = []

    def ensure(artifacts):
        def make(folder):
            made.append(artifacts.system)
            (folder / "weights").write_text("1")

        wanted = Manifest("model", 1, {"steps": 1})
        artifacts.ensure("pretrain", "pretrain", tmp_path / "run/model/pretrained", wanted, make)

    run = RunFolder(tmp_path / "run")
    (tmp_path / "run").mkdir()
    for from_stage in (None, "pretrain"):
        first = Ensurer(run, from_stage)
        ensure(first)
        ensure(replace(first, system="other"))
    assert made == ["", ""]  # once when it was not there, once because it was asked for
