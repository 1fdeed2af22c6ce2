"""Kinds of terms: by their marks, their script, and how raw text writes them."""

import pytest

from lexigraft.explain.term_kinds import begins_with_marks, count_capitals, kind_of, main_script

TEXTS = [
    "We met Pedro and Anna. The house of Pedro is old.",
    "I saw Pedro. Nothing else is known, and nothing will be. If nothing helps, nothing does.",
    "Run it. Run it again. The NASA and NASA and NASA.",
]


@pytest.mark.parametrize(
    ("term", "kind"),
    [
        ("the", "stop-word"), ("##ing", "piece"), ("##", "punctuation"), ("...", "punctuation"), ("2024", "digits"),
        ("##7", "digits"), ("[SEP]", "special token"), ("<s>", "special token"),
        ("привет", "other script"), ("pedro", "name"), ("nothing", "word"),
        ("anna", "word or name"),  # seen once
        ("run", "word or name"),  # only where sentences begin
        ("nasa", "word"),
    ],
)  # fmt: skip
def test_kinds(term, kind):
    written = count_capitals(["pedro", "nothing", "anna", "run", "nasa"], TEXTS)
    assert kind_of(term, False, "LATIN", {"the"}, written) == kind


def test_byte_level_vocabularies_mark_what_begins_a_word():
    terms = ["a", "b", "Ġthe", "Ġhouse", "ing"]
    assert begins_with_marks(terms)
    assert not begins_with_marks(["a", "the", "##ing"])
    assert kind_of("Ġthe", True, "LATIN", {"the"}, {}) == "stop-word"
    assert kind_of("ing", True, "LATIN", {"the"}, {}) == "piece"


def test_the_main_script_is_that_of_most_terms():
    assert main_script(["12", "!", "순서", "제거", "abc"]) == "HANGUL"
    assert main_script(["12"]) == ""
    assert kind_of("abc", False, "HANGUL", (), {}) == "other script"
