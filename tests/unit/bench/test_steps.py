"""The runner of plans: order, what is done before, and what a failure leaves out."""

from pathlib import Path

import pytest

from bench.steps import Step, follow, planned


@pytest.fixture
def out(tmp_path: Path) -> Path:
    for part in ("logs", "done"):
        (tmp_path / part).mkdir()
    return tmp_path


def test_a_step_begins_after_those_it_needs(out: Path) -> None:
    steps = [
        Step("last", f"cat {out}/a {out}/b > {out}/both", ["a", "b"], 1),
        Step("a", f"sleep 0.2; echo one > {out}/a", [], 1),
        Step("b", f"echo two > {out}/b", [], 1),
    ]
    assert follow(steps, out) == []
    assert (out / "both").read_text() == "one\ntwo\n"


def test_what_is_done_is_not_done_again(out: Path) -> None:
    steps = [Step("count", f"echo once >> {out}/count", [], 1)]
    assert follow(steps, out) == follow(steps, out) == []
    assert (out / "count").read_text() == "once\n"


def test_a_failure_leaves_out_what_waits_for_it_and_nothing_else(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    steps = [
        Step("broken", "echo the reason; false", [], 1),
        Step("after", f"touch {out}/after", ["broken"], 1),
        Step("alone", f"touch {out}/alone", [], 1),
    ]
    assert follow(steps, out) == ["broken", "after"]
    assert "the reason" in capsys.readouterr().out
    assert (out / "alone").is_file() and not (out / "after").exists() and not list((out / "done").glob("broken*"))


def test_values_given_come_before_those_of_the_plan() -> None:
    plan = {"where": {"n": 3, "name": "x"}, "steps": {"one": {"command": "run {name} {n}", "threads": 2}}}
    assert planned(plan, {"n": "5"}) == [Step("one", "run x 5", [], 2)]


def test_a_step_that_waits_for_nothing_known_is_named() -> None:
    with pytest.raises(SystemExit, match="one waits for two"):
        planned({"steps": {"one": {"command": "true", "after": ["two"]}}}, {})


def test_a_value_that_nobody_gives_is_named() -> None:
    with pytest.raises(SystemExit, match="one needs --where size="):
        planned({"steps": {"one": {"command": "run {size}"}}}, {})


def test_another_command_for_a_step_that_is_done_is_an_error(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert follow([Step("one", f"echo first > {out}/one", [], 1)], out) == []
    assert follow([Step("one", f"echo second > {out}/one", [], 1)], out) == ["one"]
    assert "done by another command" in capsys.readouterr().out
    assert (out / "one").read_text() == "first\n"


def test_a_value_may_hold_values_that_come_after_it() -> None:
    where = {"train": "train --steps {steps} --out {out}", "steps": 5}
    plan = {"where": where, "steps": {"a": {"command": "{train}/a"}}}
    assert planned(plan, {"out": "runs", "steps": "7"})[0].command == "train --steps 7 --out runs/a"
