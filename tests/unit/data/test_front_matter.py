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
        ("about: >\n  several lines\n  of text\nyear: 1\n", {"about": "several lines of text\n", "year": "1"}),
        ("it's: odd\n\n# a comment\nauthor-name: Ann O'Lee\n", {"it's": "odd", "author-name": "Ann O'Lee"}),
        ("tags: [a,\n  b]\nday: 2024-03-01\n", {"tags": ["a", "b"], "day": "2024-03-01"}),
        ("", {}),
        # Texts of several lines are texts, whatever their lines look like.
        ("summary: >-\n  - a\n\n  - b\nyear: 1\n", {"summary": "- a\n- b", "year": "1"}),
        ("desc: |2\n    text\nyear: 1\n", {"desc": "  text\n", "year": "1"}),
        # Objects are passed over, and lists in them or of them.
        ("author:\n  roles:\n    - editor # main\nyear: 1\n", {"year": "1"}),
        ("authors:\n  - name: Ann\n    role: editor\n  - name: Bo\nyear: 1\n", {"year": "1"}),
        ("place: {town: Ulm}\ntags:\nmy key:\n  - a\nyear: 1\n", {"my key": ["a"], "year": "1"}),
        ("links:\n  - http://a.b:80/c\n  - 'x: y'\n", {"links": ["http://a.b:80/c", "x: y"]}),
        # Comments.
        ("title: # nothing yet\nyear: 1\n", {"year": "1"}),
        (
            "tags: # all of them\n  # the first\n  - red # Ann's\n\n  - 'a # b'\n  - C#\n",
            {"tags": ["red", "a # b", "C#"]},
        ),
        ("tags: [a, 'b # c'] # [d]\nby: 'x # y' # 'z'\n", {"tags": ["a", "b # c"], "by": "x # y"}),
    ],
)
def test_what_a_front_matter_says(front, said):
    assert split_front_matter(f"---\n{front}---\n# Page\n", "page.md") == (said, "# Page\n")


@pytest.mark.parametrize(
    "text", ["# Page\n---\na: b\n---\n", "--- a: b\n", "---\na: b\n", "", "---\nSome prose.\n---\nMore.\n"]
)
def test_a_text_without_one_stays(text, caplog):
    assert split_front_matter(text, "page.md") == ({}, text)
    assert not caplog.messages


def test_what_is_no_yaml_is_text_and_said_to_be(caplog):
    text = "---\ntitle: Asking: how\n---\n# Page\n"
    assert split_front_matter(text, "page.md") == ({}, text)
    (message,) = caplog.messages
    assert message.startswith(
        "page.md: the front matter is not YAML and is read as text: mapping values are not allowed"
    )
