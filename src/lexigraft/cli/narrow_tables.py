"""How a table is laid out where it is wider than the terminal: texts are wrapped, and numbers go on below."""

from collections.abc import Sequence

NARROWEST = 16  # a text that is wrapped has so much room, its longest word, or all that it needs


def table_parts(
    widths: Sequence[int], is_text: Sequence[bool], room: int, words: Sequence[int] = (), n_named_by: int = 0
) -> list[dict[int, bool]]:
    """Tables that show all columns of `widths` within `room`, one below the other; each gives its columns, and whether
    a column's text is wrapped. A table that fits is one. Others repeat what says what a row is, as far as it takes half
    of the room together: the first texts, and at least the first `n_named_by` columns. Between two columns is a space,
    and one on either side. `words` has the length of each column's longest word, which wrapping does not cut."""
    columns = range(len(widths))
    if sum(widths) + len(widths) + 1 <= room:
        return [dict.fromkeys(columns, False)]
    n_keys, taken = 0, 1
    while n_keys < len(widths) and (is_text[n_keys] or n_keys < n_named_by) and taken + widths[n_keys] + 1 <= room // 2:
        taken += widths[n_keys] + 1
        n_keys += 1
    if not n_keys and widths:  # even the first is long: it is wrapped
        n_keys, taken = 1, 1 + min(widths[0], max(NARROWEST, room // 2)) + 1
    keys = {at: widths[at] + 2 > room // 2 and is_text[at] for at in range(n_keys)}
    parts, used = [dict(keys)], taken
    for at in columns[n_keys:]:
        least = least_width(widths[at], words[at] if words else 0, room)
        wraps = is_text[at] and widths[at] > least
        needed = (least if wraps else widths[at]) + 1
        if used + needed > room and len(parts[-1]) > n_keys:
            parts.append(dict(keys))
            used = taken
        parts[-1][at] = wraps
        used += needed
    return parts


def least_width(width: int, word: int, room: int) -> int:
    """What a text of `width` is wrapped to at least: its longest word stays whole, unless it takes a third of all."""
    return min(width, max(NARROWEST, word if word <= room // 3 else 0))


def n_identifying(rows: Sequence[Sequence[str]]) -> int:
    """How many of the first columns it takes to tell all rows apart; 0 where all of them do not."""
    n_columns = len(rows[0]) if rows else 0
    return next((n for n in range(1, n_columns + 1) if len({tuple(row[:n]) for row in rows}) == len(rows)), 0)
