"""What --cost stands for."""

import pytest

from lexigraft.cli.cost import cost_overrides
from lexigraft.core.config import load_settings
from lexigraft.core.errors import SettingError


def test_a_share_of_bm25():
    settings = load_settings(None, cost_overrides(["0.5"]))
    assert settings.prune.cost == 0.5 and settings.prune.budget == "bm25"


def test_terms_of_a_query_and_a_document():
    settings = load_settings(None, cost_overrides(["12x40"]))
    assert (settings.finetune.qk, settings.finetune.dk) == (12, 40)
    assert settings.prune.budget == "terms" and settings.prune.budgets[0] == (12, 40)


def test_several_are_a_system_each():
    settings = load_settings(None, cost_overrides(["1", "0.5", "0.125", "0.5"]))
    assert list(settings.systems) == ["at-100", "at-50", "at-12_5"]
    assert settings.systems["at-12_5"]["prune"] == {"cost": 0.125}


def test_none_changes_nothing():
    assert cost_overrides(None) == []


@pytest.mark.parametrize("costs", [["0"], ["-1"], ["half"], ["nan"], ["inf"], ["0x40"], ["12x0"], ["0.5", "12x40"]])
def test_what_is_no_cost_is_refused(costs):
    with pytest.raises(SettingError, match=r"such as 0\.5"):
        cost_overrides(costs)
