"""How a table is laid out where it is wider than the terminal: texts are wrapped, and numbers go on below."""

from collections.abc import Sequence

NARROWEST = 16  # a text that is wrapped has so much room, or all that it needs


def table_parts(widths: Sequence[int], is_text: Sequence[bool], room: int) -> list[dict[int, bool]]:
    """Tables that show all columns of `widths` within `room`, one below the other; each gives its columns, and whether
    a column's text is wrapped. A table that fits is one. Others repeat the first texts, which say what a row is: those
    that together take half of the room. Between two columns is a space, and one on either side."""
    columns = range(len(widths))
    if sum(widths) + len(widths) + 1 <= room:
        return [dict.fromkeys(columns, False)]
    n_keys, taken = 0, 1
    while n_keys < len(widths) and is_text[n_keys] and taken + widths[n_keys] + 1 <= room // 2:
        taken += widths[n_keys] + 1
        n_keys += 1
    if not n_keys and widths:  # even the first is long: it is wrapped
        n_keys, taken = 1, 1 + min(widths[0], max(NARROWEST, room // 2)) + 1
    keys = {at: widths[at] + 2 > room // 2 and is_text[at] for at in range(n_keys)}
    parts, used = [dict(keys)], taken
    for at in columns[n_keys:]:
        wraps = is_text[at] and widths[at] > NARROWEST
        needed = (NARROWEST if wraps else widths[at]) + 1
        if used + needed > room and len(parts[-1]) > n_keys:
            parts.append(dict(keys))
            used = taken
        parts[-1][at] = wraps
        used += needed
    return parts
