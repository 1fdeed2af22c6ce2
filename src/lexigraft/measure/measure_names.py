"""Names of measures, checked before anything is measured by them: trec_eval trusts what it is given, and a cutoff of 0
or of twenty digits ends the process."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from lexigraft.core.errors import SettingError
from lexigraft.core.grades import LARGEST_GRADE

DEEPEST_CUTOFF = 1_000_000
LONGEST_NAME = 100
ALLOWED = (
    "MRR, R, nDCG, P, AP or another of ir_measures, at a cutoff from 1 to "
    f"{DEEPEST_CUTOFF:,} such as MRR@10, R@100, nDCG@10"
)
# Names people write, beside those of ir_measures.
_ALIASES = {"MRR": "RR", "Recall": "R", "NDCG": "nDCG"}
_CUTOFFS = ("cutoff", "T")  # what measures call how far they look
_GRADES = ("rel", "min_rel", "max_rel", "gains")  # what is compared with grades, or stands for them
_OWN = re.compile(r"(RR|R|nDCG)@([1-9][0-9]{0,7})")


def own_measure(name: str) -> tuple[str, int] | None:
    """(RR, R or nDCG, its cutoff) of one that needs no package; None of any other."""
    match = _OWN.fullmatch(canonical(name))
    if match is None or int(match[2]) > DEEPEST_CUTOFF:
        return None
    return match[1], int(match[2])


def parsed_measure(name: str) -> Any:
    """The measure of `ir_measures` that `name` names, all of whose numbers are such as trec_eval can bear."""
    import ir_measures

    require_plain(name)
    try:
        found: Any = ir_measures.parse_measure(canonical(name))
        found.validate_params()
        pipeline: Any = ir_measures.DefaultPipeline
        supported = pipeline.supports(found)
    except Exception as error:  # it evaluates the name as Python does, and raises whatever that raises
        raise _unknown(name, _first_line(error)) from error
    if not supported:
        raise _unknown(name, "it needs a package that is not installed")
    for key, value in found.params.items():
        lowest, highest = (1, DEEPEST_CUTOFF) if key in _CUTOFFS else (-LARGEST_GRADE, LARGEST_GRADE)
        if not all(lowest <= number <= highest for number in _numbers(value)):
            raise _unknown(name, f"its {key} may be {lowest:,} to {highest:,}")
    return found


def require_plain(name: str) -> None:
    """Raise for what is too long, or holds other characters than names of measures are made of."""
    if len(name) > LONGEST_NAME or not name.isascii() or not name.isprintable():
        raise _unknown(name, f"at most {LONGEST_NAME} plain characters name one")


def canonical(name: str) -> str:
    """With the family as `ir_measures` calls it."""
    family, at, cutoff = name.partition("@")
    return f"{_ALIASES.get(family, family)}{at}{cutoff}"


def _numbers(value: Any) -> Iterator[float]:
    """All numbers in a parameter; what is not a number (NaN) is compared as one, and lies in no range."""
    if isinstance(value, dict):
        parts: Iterable[Any] = (*value, *value.values())
    elif isinstance(value, (list, tuple)):
        parts = value
    else:
        if isinstance(value, (int, float)):
            yield value
        return
    for part in parts:
        yield from _numbers(part)


def _unknown(name: str, why: str) -> SettingError:
    shown = repr(name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]}...")
    return SettingError(f"unknown measure {shown}: {why}; allowed: {ALLOWED}")


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    absent = re.match(r"invalid param (\w+)=<object", lines[0]) if lines else None
    if absent is not None:  # the library's mark of a parameter that has no default
        return f"it needs a {absent[1]}"
    return lines[0][:200] if lines else type(error).__name__
