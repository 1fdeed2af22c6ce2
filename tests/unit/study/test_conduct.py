"""What is asked of one study or of all: on which collections, in which order, and what is refused."""

import pytest

from lexigraft.core.errors import InputError, SettingError
from lexigraft.study.conduct import ask, ask_all, works_of
from lexigraft.study.papers import STUDIES
from tests.topics import topics_of, write_topics


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return str(write_topics(tmp_path_factory.mktemp("data") / "topics", topics_of("kur", "mel"), 20, 6))


def test_all_studies_have_a_folder_each_and_collections_that_suit_them(data, tmp_path):
    found = ask_all("gpu", tmp_path, (data,), general="texts.txt")
    assert {one.study.name: one.out for one in found} == {name: tmp_path / name for name in STUDIES}
    assert {one.study.name for one in found if not one.data} == {"corpus-vocabulary"}  # that collection is too small
    assert not STUDIES["rescaling"].suits(60_000)


def test_what_decides_most_for_its_time_comes_first_whatever_its_study(data, tmp_path):
    asked = ask_all("gpu", tmp_path, (data,), general="texts.txt")
    works = works_of(asked)
    worth = {(work.study.name, work.arm.name, work.seed): value for one in asked for value, work in one.valued_works()}
    valued = [worth[work.study.name, work.arm.name, work.seed] for work in works]
    assert valued == sorted(valued, reverse=True)
    assert len({work.study.name for work in works[:12]}) > 1
    assert len(works) == sum(len(one.valued_works()) for one in asked)


def test_what_cannot_be_done_is_refused_before_anything_is(data, tmp_path):
    with pytest.raises(SettingError, match="there is no study 'nothing'; one of vocabulary"):
        ask("nothing", "gpu", tmp_path)
    with pytest.raises(SettingError, match="several collections are called topics; rename one"):
        ask("vocabulary", "gpu", tmp_path, data=(data, data))
    with pytest.raises(SettingError, match="read general texts: give some"):
        works_of([ask("pretraining", "gpu", tmp_path, data=(data,))])
    with pytest.raises(SettingError, match="--arms: the study vocabulary has no none; it has splade"):
        works_of([ask("vocabulary", "gpu", tmp_path, data=(data,), arms=("none",))])
    with pytest.raises(InputError):
        ask("vocabulary", "gpu", tmp_path, data=(str(tmp_path / "nowhere"),))
