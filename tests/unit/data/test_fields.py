"""Which field of a file is what: as it is named, as it is guessed, and what is said where neither fits."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexigraft.core.errors import InputError, SettingError
from lexigraft.data.fields import DOCUMENT, JUDGEMENT, QUERY, as_option, choose, parse_fields


def chosen(*present, said="", roles=DOCUMENT):
    return choose(roles, parse_fields(said), present, "my.csv")


def test_named_fields_and_the_rest():
    found = chosen("sku", "name", "description", "notes", "price", said="id=sku,title=name,text=description,notes")
    assert found.by_role == {"id": ("sku",), "title": ("name",), "text": ("description", "notes")}
    assert (found.rest, found.guessed) == (("price",), frozenset())


@pytest.mark.parametrize(
    ("present", "words"),
    [
        (("_id", "title", "text"), "id = _id, title = title, text = text"),
        (("SKU", "Product Name", "Description"), "id = SKU, title = Product Name, text = Description"),
        (("doc-id", "body"), "id = doc-id, text = body"),
        (("id", "name"), "id = id, text = name"),  # names alone are what is searched
        (("content",), "text = content"),
    ],
)
def test_guesses(present, words):
    assert chosen(*present).words == words


def test_a_field_that_is_named_is_not_guessed_for_another_role():
    found = chosen("id", "title", "body", said="text=title")
    assert found.words == "id = id, text = title"
    assert found.guessed == {"id", "title"}


def test_a_role_can_be_said_to_be_absent():
    assert chosen("id", "text", said="id=").by_role["id"] == ()


def test_queries_and_judgements():
    assert chosen("qid", "question", roles=QUERY).words == "query.id = qid, query.text = question"
    found = chosen("query-id", "corpus-id", "score", roles=JUDGEMENT)
    said = "judgement.query = query-id, judgement.document = corpus-id, judgement.relevance = score"
    assert found.words == said


def test_what_does_not_fit_lists_the_fields_and_shows_the_option():
    with pytest.raises(InputError, match=r"my\.csv has no field 'descr', .* for text; its fields are id, description"):
        chosen("id", "description", said="text=descr")
    with pytest.raises(InputError, match=r"known for text; its fields are a, b\. Name it: --fields text=FIELD"):
        chosen("a", "b")


@pytest.mark.parametrize(
    ("said", "problem"),
    [("sku", "'sku' says no role"), ("ident=sku", "'ident' is no role"), ("id=a,b", "id is one field")],
)
def test_wrong_options(said, problem):
    with pytest.raises(SettingError, match=problem):
        parse_fields(said)


NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0="), min_size=1).filter(lambda n: n.strip() == n)


@given(st.lists(NAMES, min_size=1, max_size=4, unique=True))
def test_an_option_is_read_as_it_was_written(names):
    fields = {"id": (), "text": tuple(names)}
    assert parse_fields(as_option(fields)) == fields
