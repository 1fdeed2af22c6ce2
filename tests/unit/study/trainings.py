"""Finished trainings made up for tests: ranks as they are given, everything else the same."""

from lexigraft.study.finished import Finished, Point, Training, write_ranks

N_QUERIES = 200


def point(ranks, flops=1.0, held_out=0.0, **changes):
    values = {"qk": 0, "dk": 0, "flops": flops, "terms_q": 10.0, "terms_d": 30.0, "held_out": held_out}
    return Point(**values | changes, ranks=write_ranks(ranks))


def finished(arm, seed, points, weight=None, collection="c", looks=None, collapsed="", bm25=None, seconds=60.0):
    reference = point([1] * N_QUERIES) if bm25 is None else bm25
    training = Training(collection, arm, weight, seed)
    return Finished(
        "s", "gpu", training, "h", reference, points, looks or {}, collapsed, {"seconds": seconds, "memory_mib": 100}
    )
