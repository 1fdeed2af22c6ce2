"""Exported files of PostgreSQL: loaded and searched by psql, in a real server with pgvector."""

import os
import subprocess

import pytest

from tests.engines.exported_files import queries_of
from tests.engines.loaded_files import export_debian, export_odd, needs_data, require_right
from tests.engines.postgres_server import PASSWORD, USER, LocalServer
from tests.unit.export import odd

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def server():
    local = LocalServer()
    try:
        local.start()
        yield local
    finally:
        local.remove()


@pytest.fixture
def psql(server, tmp_path):
    """`psql("-f", "load.sql")` in the exported folder, in a database of its own."""
    name = f"d{abs(hash(tmp_path))}"
    server.execute(f"CREATE DATABASE {name}")

    def run(*options):
        who = {"PGHOST": "127.0.0.1", "PGPORT": str(server.port), "PGUSER": USER, "PGPASSWORD": PASSWORD}
        program = server.programs / "psql"
        return subprocess.run(
            [program, "-X", "-q", "-A", "-t", "-F", "\t", "-d", name, *options], cwd=tmp_path / "out",
            env={**os.environ, **who}, capture_output=True, text=True, check=False,
        )  # fmt: skip

    run.database = name
    return run


def asked_of(psql):
    def search(vector):
        done = psql("-v", f"query={vector}", "-f", "search.sql")
        assert done.returncode == 0, done.stderr
        rows = [line.split("\t") for line in done.stdout.splitlines()]
        return [(row[0], float(row[-1])) for row in rows]

    return search


@pytest.mark.parametrize("name", ["documents", "passages"])
def test_psql_loads_and_searches(name, psql, server, tmp_path):
    odd.make(tmp_path / "odd")
    wanted = export_odd("pgvector", tmp_path / "odd" / name, tmp_path)
    done = psql("-f", "load.sql")
    assert done.returncode == 0 and done.stderr == "", done.stderr
    assert require_right(tmp_path, wanted, asked_of(psql)) == 3
    for holds in (
        "(meta ->> 'year')::float8 = 2000.5",
        "(meta ->> 'day')::timestamptz = '2020-01-02T00:00Z'",
        "meta -> 'tags' ? 't.1'",
        "meta ->> 'venue' = E'a\\t\"1\"\\\\'",
    ):  # fmt: skip
        rows = server.execute(f"SELECT DISTINCT title FROM lexigraft WHERE {holds}", database=psql.database)
        assert rows == [('quoted "title"',)], holds
    example = (tmp_path / "out" / "README.md").read_text().split("`WHERE ")[1].split("`")[0]  # on a date
    for zone in ("UTC", "Pacific/Kiritimati", "America/Los_Angeles"):
        server.execute(f"ALTER DATABASE {psql.database} SET timezone = '{zone}'")
        for moment, sign, n_found in (("2020-01-02T00:00Z", "=", 1), ("2020-01-02T00:00Z", "<", 1)):
            holds = example.replace("KEY", "day").replace("2024-01-01T00:00Z", moment).replace(">=", sign)
            statement = f"SELECT count(DISTINCT meta ->> 'day') FROM lexigraft WHERE {holds}"
            assert server.execute(statement, database=psql.database) == [(n_found,)], (zone, sign)
    done = psql("-f", "index.sql")
    assert done.returncode == 0, done.stderr
    assert psql("-f", "load.sql").returncode != 0  # the table is there


def test_a_damaged_part_loads_nothing(psql, server, tmp_path):
    odd.make(tmp_path / "odd")
    export_odd("pgvector", tmp_path / "odd" / "documents", tmp_path)
    (part,) = (tmp_path / "out").glob("rows-*.copy.gz")
    part.write_bytes(part.read_bytes()[:-20])
    assert psql("-f", "load.sql").returncode != 0
    assert server.execute("SELECT to_regclass('lexigraft')", database=psql.database) == [(None,)]


@needs_data
def test_it_ranks_as_lexigraft_does(psql, server, tmp_path):
    """500 queries over titles of a real collection: all by the statement of search.sql, and some by psql itself."""
    import psycopg

    wanted = export_debian("pgvector", tmp_path)
    done = psql("-f", "load.sql")
    assert done.returncode == 0, done.stderr
    statement = (tmp_path / "out" / "search.sql").read_text().replace(":'query'", "%s")
    with psycopg.connect(
        host="127.0.0.1", port=server.port, user=USER, password=PASSWORD, dbname=psql.database
    ) as connection:

        def search(vector):
            return [(row[0], row[-1]) for row in connection.execute(statement, [vector]).fetchall()]

        assert require_right(tmp_path, wanted, search) == 500
        for one in queries_of(tmp_path / "out")[:3]:
            assert [score for _, score in asked_of(psql)(one["body"])] == [score for _, score in search(one["body"])]
