import pytest

from lexigraft.core.errors import InputError, SettingError
from lexigraft.measure.compare import compare, paired_test, same_queries


def test_a_missing_query_is_named_and_refused():
    systems = {"a": {"q1": 1.0, "q2": 0.0, "q3": 1.0}, "b": {"q2": 0.5}}
    with pytest.raises(InputError, match=r"b has no values for 2 of 3 queries \(q1, q3\).*--common"):
        same_queries(systems)
    assert same_queries(systems, common=True) == {"a": {"q2": 0.0}, "b": {"q2": 0.5}}


def test_many_missing_queries_are_counted_not_listed():
    systems = {"a": {str(at): 0.0 for at in range(9)}, "b": {"8": 0.5}}
    with pytest.raises(InputError, match=r"8 of 9 queries \(0, 1, 2, \.\.\.\)"):
        same_queries(systems)


def test_nothing_in_common():
    with pytest.raises(InputError, match="no query is common to a, b"):
        same_queries({"a": {"q1": 1.0}, "b": {"q2": 0.5}}, common=True)


def test_the_order_of_queries_does_not_matter():
    ours, theirs = {"q1": 1.0, "q2": 0.0, "q3": 0.5}, {"q3": 0.5, "q2": 0.5, "q1": 0.5}
    [found] = compare("R@10", same_queries({"theirs": theirs, "ours": ours}), "theirs")
    assert (found.wins, found.ties, found.losses) == (1, 1, 1)


def test_no_query_and_no_such_baseline():
    with pytest.raises(InputError, match="no query"):
        paired_test([])
    with pytest.raises(SettingError, match="'c' is none of the systems; one of: a, b"):
        compare("R@10", {"a": {"q": 1.0}, "b": {"q": 1.0}}, "c")


def test_differences_of_rounding_are_none():
    theirs = {f"q{i}": 0.1 * (i % 7) for i in range(30)}
    ours = {query: value + 1e-16 * (1 + i % 2) for i, (query, value) in enumerate(theirs.items())}
    ours["q0"] = 2e-16
    (found,) = compare("nDCG@10", {"ours": ours, "theirs": theirs}, "theirs")
    assert (found.wins, found.ties, found.losses) == (0, 30, 0)
    assert found.test.p in (None, 1.0)
