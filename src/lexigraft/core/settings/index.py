"""How an index is built."""

import math
from dataclasses import dataclass

from lexigraft.core.settings.section import Section, setting

AUTO_TEXTS_MIB = 256  # some seconds to compress, and about a hundred mebibytes on disk


@dataclass(frozen=True)
class IndexSettings(Section, name="index"):
    """How an index is built."""

    memory_mib: int = setting(256, "MiB of postings held in memory at once while an index is built", at_least=1)
    bits: float | str = setting(
        "auto",
        "bits of an impact; with 16 or 24 it comes closer to the weight, and takes more room and time",
        one_of=("auto", 8, 16, 24),
        auto="16 for BM25 and for whole vectors of a learned model, 8 where vectors are cut",
    )
    reorder: bool = setting(
        False,
        "documents with common terms beside each other (recursive graph bisection); made neither the index smaller nor "
        "a search faster where it was measured ([engines](results/engines.md))",
    )
    texts: str = setting(
        "auto",
        "whether the texts of documents are kept, compressed, for what searches show of them",
        "Also `--texts`.",
        one_of={
            "auto": f"where they are at most {AUTO_TEXTS_MIB} MiB in all",
            "yes": "always",
            "no": "never: an index then shows titles alone",
        },
    )

    @property
    def most_text_bytes(self) -> float:
        """How many bytes of titles and texts are kept; what is larger is not."""
        return {"auto": AUTO_TEXTS_MIB * 2**20, "yes": math.inf, "no": 0}[self.texts]
