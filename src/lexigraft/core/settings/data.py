"""How a collection is read."""

from dataclasses import dataclass

from lexigraft.core.errors import require
from lexigraft.core.settings.section import Section, setting


@dataclass(frozen=True)
class DataSettings(Section, name="data"):
    """How a collection is read, which queries are measured, and what the embedded collection reads."""

    split: str = setting("auto", "judgements to measure on", auto="test, or dev where there is no test")
    on_duplicate: str = setting(
        "error",
        "an id used twice",
        "Also `--on-duplicate`.",
        one_of={"error": "", "skip": "keep the first and count the others in a warning"},
    )
    on_bad_bytes: str = setting(
        "error",
        "a line that is not UTF-8",
        one_of={"error": "", "replace": "read it with U+FFFD in the wrong places and count it"},
    )
    passage_words: int = setting(
        0,
        "documents are encoded and searched in passages of so many words; a document's score is that of its best one",
        at_least=0,
        zero="whole documents",
    )
    passage_overlap: int = setting(
        0, "so many words of a passage are repeated by the next one; fewer than `data.passage_words`", at_least=0
    )
    packages: tuple[str, ...] = setting(
        (),
        "pydocs: only these top-level packages, for what is measured and what is searched",
        empty="a fixed, named set is measured, and all that are installed are searched",
    )
    processes: int = setting(0, "pydocs: parser processes", at_least=0, zero="one per core")

    def check_together(self) -> None:
        most = max(0, self.passage_words - 1)
        fits = 0 <= self.passage_overlap <= most
        require(fits, "data.passage_overlap", self.passage_overlap, f"0 to {most}, less than data.passage_words")
