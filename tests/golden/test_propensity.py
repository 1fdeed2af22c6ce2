"""Position bias, worked out by hand."""

import numpy as np
import pytest

from lexigraft.core.errors import InputError
from lexigraft.data.clicks.log import read_click_log
from lexigraft.data.clicks.propensity import estimate, label_pairs, power_law, propensities
from lexigraft.data.clicks.settings import Columns, Correction


def log_of(tmp_path, rows, max_position=4, impressions=True):
    """Rows (title, position, clicks, impressions) of one query."""
    path = tmp_path / "log.tsv"
    lines = "".join(f"q\t{title}\t{position}\t{clicks}\t{shown}\n" for title, position, clicks, shown in rows)
    path.write_text("query\ttitle\tposition\tclicks\tshown\n" + lines)
    return read_click_log([path], Columns(impressions="shown" if impressions else None), max_position)


def labels_by_title(log, propensity, max_weight=20.0):
    found = label_pairs(log, propensity, max_weight, np.arange(log.n_pairs))
    titles = [log.titles[place] for place in log.pair_document]
    return dict(zip(titles, found.labels.tolist(), strict=True)), found.clipped


ROWS = [("A", 1, 3, 10), ("A", 2, 2, 10), ("B", 4, 1, 10), ("B", 3, 1, 10), ("C", 2, 0, 10)]


def test_without_correction_a_label_is_the_clicks(tmp_path):
    log = log_of(tmp_path, ROWS)
    assert propensities(log, Correction()) is None
    assert labels_by_title(log, None) == ({"A": 5, "B": 2, "C": 0}, 0)


def test_power_law(tmp_path):
    log = log_of(tmp_path, ROWS)
    # A: 3 * 1 + 2 * 2, B: 1 * 4 + 1 * 3, C has no clicks and so the least label, 1.
    assert propensities(log, Correction("power")) == pytest.approx([1, 1 / 2, 1 / 3, 1 / 4])
    assert labels_by_title(log, power_law(1.0, 4)) == ({"A": 7, "B": 7, "C": 1}, 0)
    # eta = .5. A: 3 + 2 * 1.414 = 5.83, B: 2 + 1.732 = 3.73.
    assert labels_by_title(log, power_law(0.5, 4)) == ({"A": 6, "B": 4, "C": 1}, 0)
    # eta = 0 changes nothing but the least label.
    assert labels_by_title(log, power_law(0.0, 4)) == ({"A": 5, "B": 2, "C": 1}, 0)


def test_clipped_weights_are_counted(tmp_path):
    # At most 2.5 a click: A 3 + 2 * 2 = 7, B 2.5 + 2.5 = 5; both cells of B are cut, C's has weight 2.
    assert labels_by_title(log_of(tmp_path, ROWS), power_law(1.0, 4), 2.5) == ({"A": 7, "B": 5, "C": 1}, 2)


def test_estimated_from_documents_at_two_positions(tmp_path):
    rows = [
        ("A", 1, 8, 10), ("A", 2, 4, 10),  # rates .8 and .4
        ("B", 1, 3, 30), ("B", 2, 1, 10),  # rates .1 and .1
        ("B", 3, 5, 10), ("C", 3, 9, 10),  # C was at one position only: no evidence
    ]  # fmt: skip
    found = estimate(log_of(tmp_path, rows, max_position=5))
    # 1 to 2: weights 10 * 10 / 20 = 5 for A, 30 * 10 / 40 = 7.5 for B:
    #   (5 * .4 + 7.5 * .1) / (5 * .8 + 7.5 * .1) = 2.75 / 4.75.
    # 2 to 3: B alone, .5 / .1 = 5, which may not increase. 3 to 4 and 4 to 5: no evidence, and the ratio 5 goes on.
    assert found == pytest.approx([1, 2.75 / 4.75, 2.75 / 4.75, 2.75 / 4.75, 2.75 / 4.75])


def test_positions_without_evidence_continue_the_last_ratio(tmp_path):
    found = estimate(log_of(tmp_path, [("A", 2, 6, 10), ("A", 3, 3, 10), ("B", 1, 3, 9)], max_position=5))
    # 1 to 2: nothing is known and nothing assumed. 2 to 3: one half, and so on.
    assert found == pytest.approx([1, 1, 1 / 2, 1 / 4, 1 / 8])


def test_a_better_document_shown_more_often_is_no_better_position(tmp_path):
    # Both positions are looked at equally; the good document stands at 1 mostly. Pooled rates would say .76 and .24.
    rows = [("good", 1, 80, 100), ("good", 2, 8, 10), ("bad", 1, 2, 10), ("bad", 2, 20, 100)]
    assert estimate(log_of(tmp_path, rows, max_position=2)) == pytest.approx([1, 1])


def test_what_cannot_be_estimated(tmp_path):
    with pytest.raises(InputError, match="--impressions-column, or take --correct power"):
        estimate(log_of(tmp_path, ROWS, impressions=False))
    with pytest.raises(InputError, match="no document was shown at two neighbouring positions"):
        estimate(log_of(tmp_path, [("A", 1, 3, 10), ("B", 2, 3, 10), ("A", 3, 1, 10)]))
    with pytest.raises(InputError, match="was clicked at both"):
        estimate(log_of(tmp_path, [("A", 1, 3, 10), ("A", 2, 0, 10)]))
