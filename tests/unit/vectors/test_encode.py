"""Documents are counted when they are encoded, not when they are read: the time left is that of encoding."""

from lexigraft.core.types import Document
from lexigraft.vectors import encode
from lexigraft.vectors.encode import encode_with_model
from lexigraft.vectors.open_network import open_network
from tests.families import write_backbone
from tests.unit.model.test_inference_form import grafted, saved


class Counting:
    """How many texts had been written when each document was counted."""

    def __init__(self, network):
        self.written, self.seen, self.total, self._usual = 0, [], None, network.write
        network.write = self._write

    def _write(self, read, are_queries):
        rows = self._usual(read, are_queries)
        self.written += len(read)
        return rows

    def track(self, items, label, total=None):
        self.total = total
        for item in items:
            self.seen.append(self.written)
            yield item


def test_documents_are_counted_when_they_are_encoded(tmp_path, monkeypatch):
    monkeypatch.setattr(encode, "READ_AHEAD", 4)
    network = open_network(saved(grafted(write_backbone("bert", tmp_path / "backbone", loud=20.0)), tmp_path / "model"))
    documents = [Document(f"d{number}", "", "kur mel") for number in range(10)]
    counting = Counting(network)
    (tmp_path / "vectors").mkdir()
    meta = encode_with_model(iter(documents), network, {}, tmp_path / "vectors", False, counting, 10)
    assert (meta.n_rows, counting.total) == (10, 10)
    assert counting.seen == [4] * 4 + [8] * 4 + [10] * 2
