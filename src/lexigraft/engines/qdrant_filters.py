"""Conditions in the form that Qdrant takes. A payload without the key fulfils no condition of Qdrant's either, and so
`must_not` of any."""

from typing import Any

from lexigraft.core.errors import SettingError
from lexigraft.engines.conditions import AllOf, AnyOf, HoldsElement, InRange, Not, Test, TextIs
from lexigraft.engines.messages import client_package
from lexigraft.engines.stored_values import name_of


def as_filter(test: Test) -> Any:
    """A `Filter` of qdrant-client."""
    return client_package("qdrant_client.models", "Qdrant").Filter(must=[_condition(test)])


def _condition(test: Test) -> Any:
    models = client_package("qdrant_client.models", "Qdrant")
    match test:
        case AllOf(parts):
            return models.Filter(must=[_condition(part) for part in parts])
        case AnyOf(parts):
            return models.Filter(should=[_condition(part) for part in parts])
        case Not(part):
            return models.Filter(must_not=[_condition(part)])
        case InRange(key, low, high, with_low, with_high):
            bounds = {"gte" if with_low else "gt": low, "lte" if with_high else "lt": high}
            return models.FieldCondition(key=path_of(key), range=models.Range(**bounds))
        case TextIs(key, "=", text) | HoldsElement(key, text):
            return models.FieldCondition(key=path_of(key), match=models.MatchValue(value=text))
        case TextIs(key, sign, _):
            raise SettingError(
                f"Qdrant compares texts for equality alone, and {key} is text: '{key} {sign}' cannot be asked for"
            )
    raise AssertionError(test)


def path_of(key: str) -> str:
    """Where the value of a key lies in the payload."""
    return f"meta.{name_of(key)}"
