"""What explanation pages say of grafted documents: where the weight of each word comes from, as a striped bar and in
words."""

from collections.abc import Sequence

from lexigraft.core.origin import BORROWED, OWN, VECTOR, Origin
from lexigraft.explain.documents import HEAVIEST, AddedWord, ExplainedDocument
from lexigraft.explain.page_parts import note, number, table, text, words

LEGEND = (
    '<p class="legend"><span class="own"></span> its own words &nbsp; <span class="borrowed"></span> borrowed from '
    'other documents &nbsp; <span class="vector"></span> from its vector</p>'
)
NAMES = {OWN: "its own", BORROWED: "borrowed", VECTOR: "from its vector"}


def parts_bar(share: float, origin: Origin) -> str:
    """A cell with a bar of so large a part of its width, in pieces by origin."""
    pieces = "".join(
        f'<span class="{name}" style="width: {100 * share * part / origin.points:.1f}%"></span>'
        for name, part in origin.parts.items()
        if part
    )
    return f'<td class="bar parts"><div>{pieces}</div></td>'


def made_of(origin: Origin) -> str:
    """A cell that says the parts; the titles of who lent appear over it."""
    titles = "\n".join(f"{lender.doc_id}: {lender.title}" for lender in origin.lenders)
    return f'<td title="{text(titles)}">{text(origin.said)}</td>'


def lenders_note(origin: Origin, shown: int = 5) -> str:
    """Who lent most, by title."""
    if not origin.lenders:
        return ""
    named = "; ".join(
        f"{lender.doc_id} “{lender.title}” ({lender.points / origin.points:.1%})" for lender in origin.lenders[:shown]
    )
    return note(f"Lent most: {named}.")


def document(found: ExplainedDocument) -> str:
    """The section of a document as a whole."""
    return (
        LEGEND
        + note(f"{found.title} – {found.said}.")
        + lenders_note(found.origin)
        + _added("Borrowed words that its text does not hold", found.borrowed)
        + _added("Words of its vector that its text does not hold", found.told)
    )


def _added(name: str, found: Sequence[AddedWord]) -> str:
    if not found:
        return note(f"{name}: none.")
    rows = [
        words(word.term) + parts_bar(word.weight / found[0].weight, word.origin) + number(word.weight)
        + made_of(word.origin)
        for word in found[:HEAVIEST]
    ]  # fmt: skip
    more = len(found) - HEAVIEST
    return (
        f"<h3>{text(name)}</h3>\n"
        + table(["term", "", "#weight", "made of"], rows)
        + (note(f"{more} lighter ones are not shown.") if more > 0 else "")
    )
