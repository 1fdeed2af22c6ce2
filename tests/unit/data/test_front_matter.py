import pytest

from lexigraft.data.readers.front_matter import split_front_matter


@pytest.mark.parametrize(
    ("front", "said"),
    [
        ("title: Holidays\nyear: 2024\n", {"title": "Holidays", "year": "2024"}),
        ("title: \"Asking: how\"\nlang: 'de'\n", {"title": "Asking: how", "lang": "de"}),
        ("tags: [spring, 'red, white', \"x\"]\n", {"tags": ["spring", "red, white", "x"]}),
        ("by: [Ann O'Lee, 'Bo']\n", {"by": ["Ann O'Lee", "Bo"]}),
        ("tags:\n  - spring\n  - red\nyear: 2024\n", {"tags": ["spring", "red"], "year": "2024"}),
        ("tags:\n- spring\n", {"tags": ["spring"]}),
        ("tags: []\nempty:\nafter: 1\n", {"tags": [], "after": "1"}),
        ("year: 2024 # of the print\nlanguage: C#\n", {"year": "2024", "language": "C#"}),
        ("about: >\n  several lines\n  of text\nyear: 1\n", {"year": "1"}),
        ("it's: odd\n\n# a comment\nauthor-name: Ann O'Lee\n", {"author-name": "Ann O'Lee"}),
        ("", {}),
    ],
)
def test_what_a_front_matter_says(front, said):
    assert split_front_matter(f"---\n{front}---\n# Page\n") == (said, "# Page\n")


@pytest.mark.parametrize("text", ["# Page\n---\na: b\n---\n", "--- a: b\n", "---\na: b\n", ""])
def test_a_text_without_one_stays(text):
    assert split_front_matter(text) == ({}, text)
