"""What may differ in the one word rule from artifact to artifact, as a value that travels with each of them."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

ENTRY = "words"  # of a vocabulary, an index of BM25, a model, or a recipe


@dataclass(frozen=True)
class WordRule:
    """`fold_accents`: Latin and Greek letters lose their accents ("Café" is the word "cafe"). `split_camel_case`: words
    of identifiers begin at their capitals ("parseHTTP" is two words)."""

    fold_accents: bool = True
    split_camel_case: bool = False

    @property
    def entry(self) -> dict[str, Any]:
        """What an artifact or a recipe says of the rule; nothing where it is the former one, which needed no words."""
        return {} if self == FORMER_RULE else {ENTRY: asdict(self)}


FORMER_RULE = WordRule(fold_accents=False, split_camel_case=False)


def rule_in(description: Mapping[str, Any]) -> WordRule:
    """The rule by which the artifact was made that describes itself so; one that says nothing is from before there was
    a choice."""
    return WordRule(**description[ENTRY]) if description.get(ENTRY) else FORMER_RULE
