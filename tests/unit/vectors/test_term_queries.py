"""Queries of terms by their names, with weights."""

from pathlib import Path

import pytest

from lexigraft.core.errors import InputError
from lexigraft.core.types import Vocabulary
from lexigraft.vectors.query_encoder import open_query_encoder

VOCABULARY = Vocabulary(["car", "engine", "x^2", "日本"])


@pytest.fixture
def encoder():
    return open_query_encoder({"kind": "terms"}, VOCABULARY, Path("nowhere"))


def weighed(encoder, text):
    ids, weights = encoder.encode(text)
    return dict(zip([VOCABULARY.terms[one] for one in ids.tolist()], weights.tolist(), strict=True))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("engine car", {"car": 1, "engine": 1}),
        ("car^3 engine", {"car": 3, "engine": 1}),
        ("car car^0.5", {"car": 1.5}),
        ("x^2", {"x^2": 1}),  # a term as it stands
        ("x^2^4", {"x^2": 4}),
        ("日本\u3000car", {"日本": 1, "car": 1}),
        ("Car truck^3 ^2 car^many", {}),
        ("", {}),
    ],
)
def test_terms_and_weights(text, expected, encoder):
    assert weighed(encoder, text) == expected
    assert [VOCABULARY.terms[one] for one in encoder.own_terms(text).tolist()] == sorted(
        expected, key=VOCABULARY.id_of.get
    )
    (row,) = encoder.encode_all([text])
    assert [array.tolist() for array in row] == [array.tolist() for array in encoder.encode(text)]


@pytest.mark.parametrize("weight", ["0", "-1", "nan", "inf"])
def test_weights_are_above_zero(weight, encoder):
    with pytest.raises(InputError, match="a weight is a number above 0"):
        encoder.encode(f"car^{weight}")
