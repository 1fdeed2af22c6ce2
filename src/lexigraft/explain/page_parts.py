"""The parts that explanation pages are made of: a marked text, and tables with bars. All text is escaped here."""

from collections.abc import Sequence
from html import escape

from lexigraft.core.types import TracedText

PALEST, STRONGEST = 0.12, 0.8  # how opaque the mark of a word is


def text(value: str) -> str:
    """Any string as HTML shows it; what UTF-8 cannot hold becomes a question mark."""
    return escape(value.encode("utf-8", "replace").decode())


def marked(traced: TracedText | None, amounts: Sequence[float], caption: str) -> str:
    """A text whose words are marked by `amounts`; those that the model did not read are pale. Empty without a text."""
    if traced is None:
        return ""
    shown: list[tuple[int, tuple[int, int], float]] = []  # (place, span, amount)
    for place, (span, amount) in enumerate(zip(traced.spans, amounts, strict=True)):
        if shown and span[0] < shown[-1][1][1]:  # a character that is several tokens is shown once, by all of them
            shown[-1] = (shown[-1][0], shown[-1][1], shown[-1][2] + amount)
        else:
            shown.append((place, span, amount))
    largest = max((amount for _, _, amount in shown), default=0.0) or 1.0
    parts, at = [], 0
    for place, (start, end), amount in shown:
        parts += [text(traced.text[at:start]), _word(traced.text[start:end], amount / largest, amount)]
        if place >= traced.n_read:
            parts[-1] = f'<span class="unread">{parts[-1]}</span>'
        at = end
    parts.append(text(traced.text[at:]))
    return f'<figure>\n<div class="text">{"".join(parts)}</div>\n<figcaption>{text(caption)}</figcaption>\n</figure>\n'


def _word(word: str, strength: float, amount: float) -> str:
    if amount <= 0:
        return text(word)
    opacity = PALEST + (STRONGEST - PALEST) * strength
    return f'<mark style="--a: {opacity:.2f}" title="{amount:.3f}">{text(word)}</mark>'


def words(value: str) -> str:
    """A cell of words."""
    return f"<td>{text(value)}</td>"


def number(value: float | None, form: str = ".3f") -> str:
    """A cell with a number; a dash where there is none."""
    return f'<td class="n">{"–" if value is None else format(value, form)}</td>'


def bar(share: float, own: bool) -> str:
    """A cell with a bar of so large a part of its width."""
    colour = ' class="own"' if own else ""
    return f'<td class="bar"><span{colour} style="width: {100 * share:.1f}%"></span></td>'


def table(columns: Sequence[str], rows: Sequence[str]) -> str:
    """Rows of cells under the names of their columns; one that begins with "#" holds numbers."""
    names = [
        f'<th class="n">{text(name[1:])}</th>' if name.startswith("#") else f"<th>{text(name)}</th>" for name in columns
    ]
    body = "\n".join(row if row.startswith("<tr") else f"<tr>{row}</tr>" for row in rows)
    head = f"<thead><tr>{''.join(names)}</tr></thead>"
    return f'<div class="scroll"><table>\n{head}\n<tbody>\n{body}\n</tbody>\n</table></div>\n'


def note(value: str) -> str:
    return f'<p class="note">{text(value)}</p>\n'
