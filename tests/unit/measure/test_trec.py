import io

import pytest

from lexigraft.core.errors import InputError
from lexigraft.core.types import Ranking
from lexigraft.measure.trec import read_run, write_run


def test_round_trip(tmp_path):
    rankings = [Ranking("q1", ("b", "a"), (2.0, 2.0)), Ranking("q2", ("c",), (0.5,))]
    with (tmp_path / "run").open("w") as file:
        write_run(file, rankings[:1], "tag")
        write_run(file, rankings[1:], "tag")
    assert (tmp_path / "run").read_text().splitlines()[0] == "q1 Q0 b 1 2.000000 tag"
    assert read_run(tmp_path / "run") == rankings


def test_only_the_first_are_written():
    file = io.StringIO()
    write_run(file, [Ranking("q1", ("b", "a", "c"), (3.0, 2.0, 1.0))], "tag", depth=2)
    assert len(file.getvalue().splitlines()) == 2


def test_ids_with_spaces_stay_one_field_and_none_is_written_like_another(tmp_path):
    ids = ("a b", "\u00a0c", "d%20e", "d e", "d%2520e", "100%", "%41")
    rankings = [Ranking("q 1", ids, tuple(range(9, 2, -1))), Ranking("q%201", ("a",), (1.0,))]
    with (tmp_path / "run").open("w") as file:
        write_run(file, rankings, "tag")
    written = [line.split()[2] for line in (tmp_path / "run").read_text().splitlines()]
    assert written == ["a%20b", "%C2%A0c", "d%2520e", "d%20e", "d%252520e", "100%", "%41", "a"]
    assert read_run(tmp_path / "run") == rankings


def test_scores_order_a_run_and_ranks_break_ties(tmp_path):
    (tmp_path / "run").write_text("q Q0 a 0 1 t\nq Q0 b 0 9 t\nq Q0 d 3 1 t\nq Q0 c 2 1 t\n")
    assert read_run(tmp_path / "run")[0].doc_ids == ("b", "a", "c", "d")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("q Q0 d 1\n", ":1: expected"),
        ("q Q0 d x 1 t\n", "must be numbers"),
        ("q Q0 c 1 2 t\nq Q0 d 2 NaN t\n", ":2: the score 'NaN' is not a finite number"),
        ("q Q0 d 1 1e400 t\n", ":1: the score '1e400' is not a finite number"),
        ("q Q0 d 1 -inf t\n", ":1: the score '-inf' is not a finite number"),
        (f"q Q0 d {'9' * 5000} 1 t\n", ":1: rank and score must be numbers"),
        ("q Q0 d 1 2 t\nq Q0 d 2 1 t\n", ":2: .* already"),
    ],
)
def test_bad_runs(tmp_path, text, says):
    (tmp_path / "run").write_text(text)
    with pytest.raises(InputError, match=says):
        read_run(tmp_path / "run")
    with pytest.raises(InputError, match="there is no file"):
        read_run(tmp_path / "absent")


def test_wrong_bytes_are_not_replaced_because_two_ids_could_become_one(tmp_path):
    (tmp_path / "run").write_bytes(b"q Q0 d\xe4 1 2 t\nq Q0 d\xf6 2 1 t\n")
    with pytest.raises(InputError, match=r"run:1 is not UTF-8 \(.*\); convert the file"):
        read_run(tmp_path / "run")
