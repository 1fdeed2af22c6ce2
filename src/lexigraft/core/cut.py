"""What is kept of a vector, as every (qk, dk) says it.

0       all of its terms
40      its 40 heaviest terms
0.5     of a query: the terms that weigh at least this share of its heaviest
"m0.8"  the fewest of its heaviest terms that have this share of its mass, which is the sum of its weights (MILCO,
        Nguyen et al., 2026, arXiv 2510.00671)

A mass is a text wherever it goes, in settings, folder names, tables and JSON: so it is never taken for a share.
"""

import re
from typing import Any

from lexigraft.core.errors import SettingError

QueryCut = float | str
DocumentCut = int | str
Keep = tuple[QueryCut, DocumentCut]

MASS = re.compile(r"m(0?\.\d+)")
A_MASS = "'m' and a share of the mass, such as m0.8"
OF_QUERIES = f"0 (the whole query), so many terms, less than 1: that share of the heaviest weight or more; or {A_MASS}"
OF_DOCUMENTS = f"0 (the whole document), so many terms, or {A_MASS}"


def mass_of(cut: QueryCut) -> float | None:
    """The share of the mass that `cut` keeps; None where it is no mass."""
    return float(cut[1:]) if isinstance(cut, str) else None


def mass_cut(share: float) -> str:
    """What keeps a share of the mass, as it is written: .80 is "m0.8"."""
    return f"m{share:g}"


def query_cut(value: Any, name: str = "qk") -> QueryCut:
    """What is kept of a query, checked; a text may be any of them."""
    found = _number(value)
    if isinstance(found, str):
        return _mass(found, name, OF_QUERIES)
    if not 0 <= found < float("inf") or (found > 1 and found != int(found)):
        raise SettingError(f"{name} = {value} is not allowed: {OF_QUERIES}")
    return int(found) if found == int(found) else found


def document_cut(value: Any, name: str = "dk") -> DocumentCut:
    """What is kept of a document, checked; a text may be any of them."""
    found = _number(value)
    if isinstance(found, str):
        return _mass(found, name, OF_DOCUMENTS)
    if not 0 <= found < float("inf") or found != int(found):
        raise SettingError(f"{name} = {value} is not allowed: {OF_DOCUMENTS}")
    return int(found)


def _number(value: Any) -> float | str:
    """`value` as a number where it is one."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return str(value).strip()
    except OverflowError:  # of hundreds of digits
        return float("inf")


def _mass(text: str, name: str, allowed: str) -> str:
    written = MASS.fullmatch(text)
    if written is None or not 0 < float(written[1]) < 1:
        raise SettingError(f"{name} = {text!r} is not allowed: {allowed}")
    return mass_cut(float(written[1]))
