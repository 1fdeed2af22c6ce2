"""Ids in TREC files: one field each, no two alike, and read back as they were."""

from hypothesis import example, given
from hypothesis import strategies as st

from lexigraft.core.trec_ids import as_others_write, id_of_trec, known_as, trec_id

ids = st.one_of(st.text(min_size=1), st.text("%25C20A\u00a0\u2003 \tab3E8", min_size=1, max_size=12))


@given(ids)
@example("%C2%A0")
@example("%C2%25A0")
@example("%%20 %25")
@example("%E2%80\u2028%A8")
def test_what_is_written_is_one_field_and_read_as_it_was(identifier):
    assert trec_id(identifier).split() == [trec_id(identifier)]
    assert id_of_trec(trec_id(identifier)) == identifier


@given(st.sets(ids, min_size=2, max_size=6))
def test_no_two_are_written_alike_and_all_are_found_again(some):
    assert len({trec_id(one) for one in some}) == len(some)
    assert [known_as(id_of_trec(trec_id(one)), some) for one in some] == list(some)


@given(ids)
def test_an_id_that_another_program_wrote_as_it_stands_is_found_where_no_other_is_meant(identifier):
    if identifier.split() == [identifier]:
        read = id_of_trec(identifier)
        assert known_as(read, {identifier}) == identifier
        assert identifier in as_others_write({read})


def test_usual_ids_are_written_as_they_are():
    for identifier in ("D12", "a/b.html", "https://example.org/?q=100%", "50%-off", "%7Euser"):
        assert trec_id(identifier) == identifier
