import pytest

from lexigraft.core.artifact import Manifest, write_artifact
from lexigraft.core.errors import ArtifactError
from lexigraft.retrieve.place import require_made_of


def artifact(path, kind, config, parents=None):
    manifest = Manifest(kind, 1, config, parents or {})
    with write_artifact(path, manifest):
        pass
    return manifest.fingerprint


def test_an_index_knows_the_vectors_that_it_was_made_of(tmp_path):
    fingerprint = artifact(tmp_path / "vectors", "vectors", {"n": 1})
    artifact(tmp_path / "others", "vectors", {"n": 2})  # of the same shape, vocabulary and ids, for all that is known
    artifact(tmp_path / "index", "index", {}, {"vectors": fingerprint})
    require_made_of(tmp_path / "index", tmp_path / "vectors")
    with pytest.raises(ArtifactError, match=r"index was not made of the vectors at .*others"):
        require_made_of(tmp_path / "index", tmp_path / "others")
    artifact(tmp_path / "of_text", "index", {})
    require_made_of(tmp_path / "of_text", tmp_path / "others")  # it does not say what it was made of
