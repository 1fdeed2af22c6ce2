"""What trainings of several seeds say together, by hand."""

import pytest

from bench.variant_table import summary, table


def training(variant, seed, at_cost, whole):
    rows = [{"qk": 0, "dk": 0, "RR": whole, "MRR@10": sum(whole) / 3, "FLOPS": 2.0}]
    if at_cost:
        rows.append({"qk": 4, "dk": 8, "RR": at_cost, "MRR@10": sum(at_cost) / 3, "FLOPS": 0.05})
    return {
        "collection": "c", "variant": variant, "seed": seed, "settings": [], "teachers": [], "seconds": 9,
        "point": {"mrr": 0.4}, "rows": rows, "bm25": [{"MRR@10": 0.25, "FLOPS": 0.1}],
    }  # fmt: skip


def test_differences_are_of_the_seeds_that_both_have():
    found = summary(
        [
            training("base", 0, [1.0, 0.5, 0.0], [1.0, 0.5, 0.5]),
            training("base", 1, [1.0, 0.0, 0.0], [1.0, 0.5, 0.0]),
            training("more", 1, [1.0, 0.5, 0.25], [1.0, 1.0, 0.5]),
            training("looked_up", 1, [0.5, 0.5, 0.5], [1.0, 0.0, 0.0]),
            training("looked_up_more", 1, [0.5, 1.0, 0.5], [1.0, 0.5, 0.0]),
        ]
    )["c"]
    assert found["bm25"] == {"MRR@10": 0.25, "FLOPS": 0.1}
    assert found["base"]["at its cost"]["MRR@10"] == pytest.approx((0.5 + 1 / 3) / 2, abs=1e-4)
    more = found["more"]["at its cost"]  # 0, .5 and .25 ahead of seed 1 alone: mean .25, t = sqrt(3), p = .225
    assert (more["difference"], more["seeds"], more["p"]) == (0.25, 1, 0.23)
    assert found["looked_up_more"]["whole"]["difference"] == pytest.approx(1 / 6, abs=1e-4)  # against looked_up


def test_the_table_has_a_column_a_collection():
    shown = table(
        summary([training("base", 0, [1.0, 0.5, 0.0], [1.0] * 3), training("dense", 0, None, [0.5, 0.25, 0.75])])
    )
    assert shown.splitlines()[0] == "| | c |"
    assert "| base | .5000 \\| 1.0000 |" in shown
    assert "| dense | .5000 (-0.5000, p = 0.074) |" in shown
