"""How texts are cut into words, by BM25 and the learned model alike."""

from dataclasses import dataclass

from lexigraft.core.errors import SettingError
from lexigraft.core.settings.declaration import AUTO
from lexigraft.core.settings.section import Section, setting
from lexigraft.core.word_rule import WordRule

ON, OFF = "on", "off"


@dataclass(frozen=True)
class WordsSettings(Section, name="words"):
    """How texts are cut into words, by BM25 and by models whose terms are words. What was made by another rule keeps
    it: an index, a vocabulary or a model says by which rule it reads."""

    fold_accents: bool = setting(
        True,
        "Latin and Greek letters lose their accents, so that `cafe` finds `Café`; the letters of the stemmer's own "
        "language only after the stem, because its rules need them",
    )
    camel_case: str = setting(
        AUTO,
        "identifiers such as `parseHTTPResponse` are cut into their words",
        one_of={
            AUTO: "in a collection of code: of the words of its first 4096 documents, 1.5 % or more are `snake_case`, "
            "`camelCase` or `calls()`; decided once for a collection, and kept as `on` or `off`",
            ON: "",
            OFF: "names such as YouTube stay whole; `snake_case` is cut anyway",
        },
    )

    @property
    def rule(self) -> WordRule:
        """The rule, once it is known whether the texts are code."""
        if self.camel_case == AUTO:
            raise SettingError("words.camel_case = 'auto' was not decided by a collection: 'on' or 'off' is needed")
        return WordRule(self.fold_accents, self.camel_case == ON)
