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
        "an id used twice, or a pair judged twice with different grades",
        "Also `--on-duplicate`.",
        one_of={"error": "", "skip": "keep the first and count the others in a warning"},
    )
    on_bad_bytes: str = setting(
        "error",
        "a line that is not UTF-8",
        one_of={"error": "", "replace": "read it with U+FFFD in the wrong places and count it"},
    )
    fields: str = setting(
        "",
        "which field of a file is what, such as `id=sku,title=name,text=description`",
        "Several text fields: `text=description,notes`. Roles of queries and judgements: `query.id=...`, "
        "`query.text=...`, `judgement.query=...`, `judgement.document=...`, `judgement.relevance=...`. What is not "
        "named is guessed, and said; `id=` numbers documents; fields without a role are metadata. Also `--fields`.",
        empty="guessed from common names",
    )
    format: str = setting(
        "auto",
        "what the documents are written in",
        "All are streamed. Also `--format`.",
        one_of={
            "auto": "by the file's ending, of standard input by how it begins",
            "csv": "",
            "tsv": "",
            "jsonl": "a JSON object a line",
            "json": "one array of JSON objects",
            "parquet": "",
            "lines": "text, a document a line",
            "files": "Markdown, text or HTML, a document a file",
        },
    )
    queries: str = setting(
        "", "a file of queries, of any format", "Also `--queries`.", empty="those that lie with the documents"
    )
    qrels: tuple[str, ...] = setting(
        (),
        "files of judgements as FILE (split test) or `SPLIT=FILE`, of any format",
        "Also `--qrels`.",
        empty="those that lie with the documents",
    )
    pairs: str = setting(
        "given",
        "what a model learns from and settings are chosen by",
        "Judged test and dev queries are then only measured on; without any, made queries that were held out are, and "
        "the report says so. Also `--pairs`.",
        one_of={
            "given": "the training judgements of the collection",
            "auto": "pairs that are made of the texts themselves (titles, first sentences, headings, links, crops and "
            "keywords), and the given ones beside them; 5,000 given ones or more are enough",
            "made": "made pairs alone",
        },
    )
    passage_by: str = setting(
        "words",
        "where passages are cut",
        one_of={
            "words": "after `data.passage_words` words",
            "headings": "at the headings of Markdown and HTML, and after so many words where that is not 0",
        },
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

    @property
    def makes_pairs(self) -> bool:
        """Whether pairs are made of the texts."""
        return self.pairs != "given"

    @property
    def in_passages(self) -> bool:
        """Whether documents are encoded and searched in passages."""
        return self.passage_by == "headings" or bool(self.passage_words)

    def check_together(self) -> None:
        most = max(0, self.passage_words - 1)
        fits = 0 <= self.passage_overlap <= most
        require(fits, "data.passage_overlap", self.passage_overlap, f"0 to {most}, less than data.passage_words")
