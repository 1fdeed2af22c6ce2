import numpy as np
import pytest

from lexigraft.core.errors import InputError
from lexigraft.vectors.quantize import document_scale, quantize_documents, quantize_query


def test_documents_use_the_whole_range_and_lose_no_posting():
    weights = np.array([5.1, 2.55, 0.001], np.float32)
    scale = document_scale(5.1)
    assert quantize_documents(weights, scale).tolist() == [255, 128, 1]
    assert document_scale(0.0) == 1.0


def test_whole_query_weights_stay():
    integers, scale = quantize_query(np.array([1, 2, 0], np.float32))
    assert (integers.tolist(), scale) == ([1, 2, 0], 1.0)


def test_other_query_weights_are_scaled():
    integers, scale = quantize_query(np.array([0.5, 1.275, 0.0001], np.float32))
    assert integers.tolist() == [100, 255, 1]
    assert scale == pytest.approx(1.275 / 255)


def test_bad_query_weights():
    for weights in ([-1.0], [np.nan], [np.inf]):
        with pytest.raises(InputError, match="finite and not negative"):
            quantize_query(np.array(weights, np.float32))
    with pytest.raises(InputError, match="prune it first"):
        quantize_query(np.full(40_000, 255, np.float32))
    assert quantize_query(np.zeros(0, np.float32))[0].tolist() == []
