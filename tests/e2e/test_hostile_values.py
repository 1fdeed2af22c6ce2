"""Values on the command line that fuzzing (tests/fuzz/hostile_commands.py) found to be tracebacks, or to reach the
terminal as they are."""

import pytest

from tests.e2e.test_bad_input import one_line_error

HUGE = "-" + "9" * 400


def test_a_number_of_hundreds_of_digits_is_out_of_range(collection, tmp_path, lexigraft):
    train = ("teacher", "train", "--data", collection, "--negatives", "x", "--backbone", "x", "--out", tmp_path / "out")
    one_line_error(lexigraft(*train, "--batch", HUGE), "is not allowed")


def test_a_format_that_there_is_none_of(collection, lexigraft):
    answer = lexigraft("data", "stats", collection / "corpus.jsonl", "--format", "nonsense")
    one_line_error(answer, "data.format = 'nonsense' is not allowed", "csv")


@pytest.mark.parametrize("odd", ["\x1b[31mred", "\u202eabc\u2066", "\x9b31m"])
def test_usage_errors_show_what_a_terminal_would_obey_as_numbers(odd, lexigraft):
    for words in (("report", "--run", "x", odd), ("search", f"--{odd}"), (odd,), ("search", "--k", odd)):
        answer = lexigraft(*words)
        assert answer.status == 2
        assert odd[0] not in answer.stderr, words
