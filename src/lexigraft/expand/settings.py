"""The settings of expansion: of feedback by RM3, and of text that a model generates."""

from dataclasses import dataclass

from lexigraft.core.errors import require
from lexigraft.core.settings.section import Section, setting

DOCUMENT_WEIGHTS = {"linear": "in proportion to it", "softmax": "as the softmax of the scores"}
PLACE = "{text}"  # in a prompt, where the text goes


@dataclass(frozen=True)
class Rm3Settings(Section):
    """How much of what a query finds is added to it."""

    fb_docs: int = setting(10, "documents of the first search taken as relevant", at_least=1)
    fb_terms: int = setting(10, "terms of them that are added", at_least=1)
    original_weight: float = setting(0.5, "what the query's own terms keep", at_least=0, at_most=1)
    document_weights: str = setting("linear", "how much a document counts by its score", one_of=DOCUMENT_WEIGHTS)
    max_share: float = setting(
        0.1, "terms in more than this share of the documents are not added", more_than=0, at_most=1
    )


@dataclass(frozen=True)
class GenerateSettings(Section):
    """How text is drawn. The defaults are those of DocT5Query's sampling."""

    prompt: str = setting(PLACE, f"what the model reads; {PLACE}: the text")
    texts: int = setting(1, "texts generated for each", at_least=1)
    max_tokens: int = setting(64, "the longest text, in the model's tokens", at_least=1)
    input_tokens: int = setting(512, "tokens of the prompt that are read; the text is cut for it", at_least=1)
    top_k: int = setting(10, "draw among so many tokens; 1: always the likeliest", at_least=1)
    top_p: float = setting(1.0, "draw among the tokens of this share of chance", more_than=0, at_most=1)
    temperature: float = setting(1.0, "above 1 evens chances out", more_than=0)
    batch: int = setting(16, "texts at a time", at_least=1)
    seed: int = setting(0, "what is drawn follows from it")

    def check_together(self) -> None:
        require(self.prompt.count(PLACE) == 1, "prompt", self.prompt, f"a text that holds {PLACE} once")
        alone = self.texts == 1 or self.top_k > 1
        require(alone, "texts", self.texts, "1 where top_k is 1: the likeliest text is always the same")
