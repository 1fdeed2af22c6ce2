"""What the targets that hold inverted lists have in common: the lists of what is exported, and what goes lost."""

import numpy as np

from lexigraft.core.progress import Progress
from lexigraft.export.lists.ordered_lists import OrderedLists, order_lists
from lexigraft.export.source import Source

EXACT = 1 << 24  # whole numbers up to here are exact in floats of 32 bits


def lists_of(source: Source, progress: Progress) -> OrderedLists:
    return order_lists(source.index, progress)


def lost_with_lists(source: Source, has_titles: bool = False) -> list[str]:
    """What weighted terms alone cannot hold, of this index."""
    index = source.index
    unused = int(np.count_nonzero(index.lengths == 0))
    lost = [
        "metadata, and of texts all but the titles" if has_titles else "titles, texts and metadata",
        "what encodes queries: they are encoded here (--queries), and written as weighted terms",
        f"the scale of scores: an impact stands for {index.meta.scale:g} times itself, which changes no ranking",
    ]
    if unused:
        lost.append(f"terms of the vocabulary that no document has: {unused:,}")
    if index.meta.passages:
        lost.append("which passages are of one document: rows are passages, ID#n, and scores are not folded")
    if index.meta.bits > 8:
        lost.append(
            f"exact sums: PISA and Lucene add up in floats of 32 bits, which round scores above {EXACT:,}; impacts of "
            f"{index.meta.bits} bits reach that"
        )
    return lost
