"""The engine in memory, which others are compared with, keeps the contract itself."""

import pytest

from tests.engines import contract
from tests.engines.memory import MemoryEngine


@pytest.mark.parametrize("holds", contract.PROPERTIES, ids=lambda holds: holds.__name__)
def test_contract(holds):
    holds(MemoryEngine)
