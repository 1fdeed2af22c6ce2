"""An engine in memory, slow and obvious: what real ones are compared with, and what can be made to fail."""

from collections.abc import Mapping, Sequence
from threading import Lock

from lexigraft.core.dates import read_period
from lexigraft.engines.conditions import AllOf, AnyOf, HoldsElement, InRange, Not, Test, TextIs, as_test
from lexigraft.engines.engine import Description, EngineError, EngineHit, Row
from lexigraft.index.metadata import DATE, Value
from lexigraft.index.metadata_values import as_text


class MemoryEngine:
    """`fail`, where it is set, is called before everything that is written, and may raise."""

    def __init__(self) -> None:
        self.rows: dict[str, Row] = {}
        self.description: Description | None = None
        self.fail = lambda: None
        self._lock = Lock()

    def create(self, description: Description) -> None:
        if self.description is not None:
            raise EngineError("it is there already")
        self.description = description

    def describe(self) -> Description | None:
        return self.description

    def load(self, rows: Sequence[Row]) -> None:
        self.fail()
        self._there()
        with self._lock:
            self.rows |= {row.row_id: row for row in rows}

    def note(self, description: Description) -> None:
        self.fail()
        self.description = description

    def search(self, term_ids, weights, k, where=()) -> list[EngineHit]:
        query = dict(zip(term_ids.tolist(), weights.tolist(), strict=True))
        test = as_test(where, self._there().kinds)
        found = []
        for row in list(self.rows.values()):
            pairs = zip(row.term_ids.tolist(), row.impacts.tolist(), strict=True)
            score = float(sum(query.get(term, 0) * impact for term, impact in pairs))
            if score > 0 and (test is None or fulfils(test, row.metadata, self.description.kinds)):
                found.append(EngineHit(row.row_id, score, row.title))
        return sorted(found, key=lambda hit: (-hit.score, hit.row_id))[:k]

    def delete(self, row_ids: Sequence[str]) -> None:
        for row_id in row_ids:
            self.rows.pop(row_id, None)

    def count(self) -> int:
        self._there()
        return len(self.rows)

    def drop(self) -> None:
        self.rows, self.description = {}, None

    def close(self) -> None:
        pass

    def _there(self) -> Description:
        if self.description is None:
            raise EngineError("there is no such collection")
        return self.description


def fulfils(test: Test, metadata: Mapping[str, Value], kinds: Mapping[str, str]) -> bool:
    match test:
        case AllOf(parts):
            return all(fulfils(part, metadata, kinds) for part in parts)
        case AnyOf(parts):
            return any(fulfils(part, metadata, kinds) for part in parts)
        case Not(part):
            return not fulfils(part, metadata, kinds)
        case HoldsElement(key, text):
            return text in [as_text(one) if not isinstance(one, str) else one for one in metadata.get(key, ())]
        case TextIs(key, sign, text):
            value = metadata.get(key)
            signs = {"=": str.__eq__, "<": str.__lt__, "<=": str.__le__, ">": str.__gt__, ">=": str.__ge__}
            return value is not None and signs[sign](value, text)
        case InRange(key, low, high, with_low, with_high):
            value = metadata.get(key)
            if value is None:
                return False
            number = read_period(value)[0] if kinds[key] == DATE else value
            above = low is None or number > low or (with_low and number == low)
            return above and (high is None or number < high or (with_high and number == high))
    raise AssertionError(test)
