"""Three ways to search a collection of PostgreSQL in shards: straight, and through its coordinator by two statements.

    python -m bench.postgres_shards --data debian_desc2title --work FOLDER --out FILE.json
    python -m bench.postgres_shards --documents 1000000 --work FOLDER --out FILE.json

A coordinator and two shards are started here, on one machine, and loaded by the product's code. The same queries are
asked by the adapter, which asks both shards and merges; by the plain statement on the partitioned table; and by a
statement with a LIMIT for each shard, UNION ALL. All rankings are compared, and what EXPLAIN says of the statements is
written beside the times.
"""

import argparse
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bench.cpu_time import cpu_seconds
from bench.engine_million import WARM_UP, of_collection
from bench.engine_places import NAME, sharded_postgres
from bench.made_index import Query, made_index, made_queries
from lexigraft.core.artifact import write_json
from lexigraft.engines.loading import load_index
from lexigraft.engines.postgres_rows import vector_text
from lexigraft.vectors.quantize import quantize_query

PLAIN = f"SELECT row_id, title, terms <#> %(q)s::sparsevec AS distance FROM {NAME} ORDER BY distance LIMIT %(k)s"
EACH = (
    f"(SELECT row_id, title, terms <#> %(q)s::sparsevec AS distance FROM {NAME}__p{{}} ORDER BY distance LIMIT %(k)s)"
)
UNION = f"{' UNION ALL '.join(map(EACH.format, range(2)))} ORDER BY distance LIMIT %(k)s"
Found = list[tuple[str, float]]


def timed(ask: Callable[[Query], Found], queries: Sequence[Query]) -> tuple[list[Found], dict[str, float]]:
    for query in queries[:WARM_UP]:
        ask(query)
    used, answers, seconds = cpu_seconds(), [], []
    for query in queries:
        begun = time.perf_counter()
        answers.append(ask(query))
        seconds.append(time.perf_counter() - begun)
    cost = 1000 * (cpu_seconds() - used) / len(queries)
    shares = {f"p{share}_ms": round(1000 * float(np.percentile(seconds, share)), 2) for share in (50, 99)}
    return answers, {**shares, "cpu_ms": round(cost, 2)}


def alike(one: Found, other: Found, k: int) -> bool:
    """Equal but for documents of the last score, where there are more than k."""
    last = one[-1][1] if len(one) == k else -1.0
    above = [{hit for hit in hits if hit[1] > last} for hits in (one, other)]
    return [score for _, score in one] == [score for _, score in other] and above[0] == above[1]


def measure(options: argparse.Namespace) -> dict[str, Any]:
    import psycopg

    from tests.engines.postgres_server import PASSWORD, USER

    if options.data is None:
        index, _ = made_index(options.work / f"made-{options.documents}", options.documents)
        queries = made_queries(options.queries)
    else:
        index, _, queries = of_collection(options.data, options.work, options.queries)
    k, n_terms = options.k, index.meta.n_terms
    integers = [(terms, quantize_query(weights, index.meta.bits)[0]) for terms, weights in queries]
    whole = [(terms[weights > 0], weights[weights > 0]) for terms, weights in integers]
    with (
        sharded_postgres() as (place, coordinator),
        psycopg.connect(
            host="127.0.0.1", port=coordinator.port, user=USER, password=PASSWORD, dbname="postgres", autocommit=True
        ) as connection,
    ):
        load_index(index, place.engine, "bench", NAME)
        place.settle()

        def straight(query: Query) -> Found:
            return [(hit.row_id, hit.score) for hit in place.engine.search(*query, k)]

        def by_sql(statement: str) -> Callable[[Query], Found]:
            def ask(query: Query) -> Found:
                found = connection.execute(statement, {"q": vector_text(*query, n_terms), "k": k}).fetchall()
                return [(name, -distance) for name, _, distance in found if distance < 0]

            return ask

        ways = {"straight to the shards": straight, "coordinator, plain": by_sql(PLAIN),
                "coordinator, LIMIT for each shard": by_sql(UNION)}  # fmt: skip
        right, facts = None, {}
        for name, ask in ways.items():
            answers, facts[name] = timed(ask, whole)
            right = right or answers
            facts[name]["equal"] = sum(alike(one, other, k) for one, other in zip(right, answers, strict=True))
        first = {"q": vector_text(*whole[0], n_terms), "k": k}
        plans = {
            name: [line for (line,) in connection.execute(f"EXPLAIN (VERBOSE, COSTS OFF) {text}", first).fetchall()]
            for name, text in (("plain", PLAIN), ("LIMIT for each shard", UNION))
        }
        shown = {name: [_short(line) for line in plan] for name, plan in plans.items()}
        return {
            "version": place.version, "vectors": options.data.name if options.data else "made",
            "documents": index.n_documents, "k": k, "queries": len(whole), "ways": facts, "plans": shown,
        }  # fmt: skip


def _short(line: str) -> str:
    """Without the query's vector."""
    import regex

    return str(regex.sub(r"'\{[^}]*\}/\d+'", "'{...}'", line))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=100_000, help="made documents")
    parser.add_argument("--data", type=Path, help="a collection with dev queries, in the place of made documents")
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--k", type=int, default=100)
    parser.add_argument("--work", type=Path, required=True, help="a folder for indexes")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    facts = measure(options)
    write_json(options.out, facts)
    print(json.dumps(facts))


if __name__ == "__main__":
    main()
