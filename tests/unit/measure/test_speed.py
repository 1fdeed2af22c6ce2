from lexigraft.measure.speed import MOST_TIMING_NS, MOST_WARMING_NS, latency, time_calls, time_within


def test_methods_take_turns_after_a_pass_that_is_not_measured():
    calls = []
    found = time_calls({name: lambda place, name=name: calls.append((name, place)) for name in "ab"}, 2, 3)
    passes = ["".join(name for name, _ in calls[start : start + 2]) for start in range(0, len(calls), 2)]
    assert passes == ["aa", "bb", *("aa", "bb"), *("bb", "aa"), *("aa", "bb")]
    assert [place for _, place in calls] == [0, 1] * 8
    assert found.keys() == {"a", "b"}
    assert all(0 < item.p50 <= item.p99 for item in found.values())


def test_percentiles_are_measured_values():
    found = latency([number * 1_000_000 for number in range(1, 101)])  # 1 to 100 ms
    assert (found.p50, found.p99, found.mean) == (50.0, 99.0, 50.5)
    assert latency([3_000_000]) == (3.0, 3.0, 3.0)


def test_a_call_is_timed_after_a_pass_that_is_not_measured():
    places = []
    found = time_within(places.append, 3, 2)
    assert places == [0, *([0, 1, 2] * 3)]
    assert 0 < found.p50 <= found.p99


def test_what_takes_long_is_timed_less_often(monkeypatch):
    now, calls = [0], []

    def call(place):
        calls.append(place)
        now[0] += 300_000_000

    monkeypatch.setattr("time.perf_counter_ns", lambda: now[0])
    assert time_within(call, 50, 5) == (300.0, 300.0, 300.0)
    assert len(calls) == 1 + (MOST_WARMING_NS // 300_000_000 + 1) + (MOST_TIMING_NS // 300_000_000 + 1)
