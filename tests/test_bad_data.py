"""Data that is not what it should be, asked about with a budget: one table of what is wrong, and what comes of it.

*refused*: before the charge, free, with exit code 2. *charged*: after it, with the sentence that all failures share;
the same request completes it when the data are whole again. *answered*: nothing is wrong, as far as anybody can tell.
Nothing that is printed has a cell or a password in it.
"""

from __future__ import annotations

import itertools
import random
import shlex
import sys
from contextlib import contextmanager

import pytest

import test_formats as formats
from tinct import Ledger
from tinct.cli import main
from tinct.sources.data_files import DataFiles
from tinct.sources.postgres_tables import _PostgresEngine

pytest.importorskip("duckdb")

REFUSED, CHARGED, ANSWERED = "refused", "charged", "answered"
CELL = "c4n4ry"
SENTENCE = "the request is charged, but its answer could not be completed. Ask again with the request id 'poll'"
NEXT = dict(itertools.pairwise((*formats.KINDS, formats.KINDS[0])))


@pytest.fixture(autouse=True)
def survey(monkeypatch):
    """Cells that would be known again."""
    rows = [[at, CELL, ("yes", "no", None)[at % 3]] for at in range(90)]
    lines = "".join(f"{person},{ward},{support or ''}\n" for person, ward, support in rows)
    monkeypatch.setattr(formats, "ROWS", rows)
    monkeypatch.setattr(formats, "SURVEY", f"person,ward,support\n{lines}".encode())


@pytest.fixture
def fate(tmp_path, monkeypatch, capsys):
    """What comes of asking about data; whatever it is, no cell and no password is printed."""
    monkeypatch.chdir(tmp_path)
    Ledger(tmp_path / "budget.db", epsilon=1)
    monkeypatch.setattr("warnings.showwarning", None)

    def ask(data):
        line = ["ask", str(data), "majority(support)", "-e", "1", "--ledger", "budget.db", "--request", "poll"]
        monkeypatch.setattr(sys, "argv", ["tinct", *line])
        with pytest.raises(SystemExit) as ended:
            main.run()
        done = capsys.readouterr()
        said, spent = " ".join(f"{done.out} {done.err}".split()), float(Ledger(tmp_path / "budget.db").spent().epsilon)
        assert not [secret for secret in (CELL, "canary", "Traceback") if secret in said], shlex.join(line)
        if not ended.value.code:
            return ANSWERED, said
        assert ended.value.code == 2
        if spent:
            assert SENTENCE in said
            return CHARGED, said
        return REFUSED, said

    return ask


def _truncated(path, _):
    path.write_bytes(path.read_bytes()[: path.stat().st_size * 2 // 3])


def _renamed(path, kind):
    path.write_bytes(formats._made(NEXT[kind], path.with_name("other")).read_bytes())


def _encrypted(path, _):
    path.write_bytes(random.Random(5).randbytes(path.stat().st_size))


def _empty(path, _):
    path.write_bytes(b"")


def _folder(path, _):
    path.unlink()
    path.mkdir()


def _broken_link(path, _):
    path.unlink()
    path.symlink_to(path.with_name("gone"))


DAMAGES = {
    "truncated": _truncated, "renamed": _renamed, "encrypted": _encrypted, "empty": _empty, "a folder": _folder,
    "a broken link": _broken_link,
}  # fmt: skip
# a text file can end anywhere, and JSON lines may be anything: what is none is a row with nothing in it
OTHERWISE = {
    ("csv", "truncated"): ANSWERED, ("jsonl", "truncated"): ANSWERED, ("jsonl", "empty"): ANSWERED,
    ("jsonl", "encrypted"): ANSWERED, ("jsonl", "renamed"): ANSWERED,
}  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("kind", formats.KINDS)
def test_a_file_that_is_none_is_refused_for_nothing(kind, damage, fate, tmp_path):
    path = formats._made(kind, tmp_path / "survey")
    DAMAGES[damage](path, kind)
    found, said = fate(path)
    assert found == OTHERWISE.get((kind, damage), REFUSED), said


@pytest.mark.parametrize("kind", [kind for kind in formats.KINDS if kind not in ("db", "duckdb")])
def test_a_file_that_grows_while_it_is_read_is_charged_and_resumed(kind, fate, tmp_path, monkeypatch):
    """Databases see to that themselves: they are read in one state."""
    path, watched = formats._made(kind, tmp_path / "survey"), DataFiles.watched
    whole = path.read_bytes()

    @contextmanager
    def growing(self, way):
        with watched(self, way) as found:
            yield found
            path.write_bytes(whole + b"\n")

    with monkeypatch.context() as patch:
        patch.setattr(DataFiles, "watched", growing)
        assert fate(path)[0] == CHARGED
    path.write_bytes(whole)
    assert fate(path)[0] == ANSWERED


# databases


@pytest.fixture
def people(database):
    """A table on a server, and its address."""
    import psycopg

    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(
            f"CREATE TABLE people AS SELECT '{CELL}' AS ward, 'yes' AS support FROM generate_series(1, 90)"  # noqa: S608
        )
        connection.execute("CREATE VIEW broken AS SELECT ward, (1 / (length(ward) - 6))::text AS support FROM people")
        yield database, connection


UNREACHED = {
    "down": (lambda url: url.rpartition("@")[0] + "@127.0.0.1:1/nowhere#people", "the server does not answer"),
    "wrong password": (lambda url: url.replace("canary%2Fsecret", "canary-other") + "#people", "password was refused"),
    "no password": (lambda url: url.replace(":canary%2Fsecret", "") + "#people", "wants a password"),
    "no such database": (lambda url: url.rpartition("/")[0] + "/nowhere#people", "no such database"),
    "no such table": (lambda url: url + "#nobody", "no such table"),
    "no table named": (lambda url: url, "name the table"),
}


@pytest.mark.parametrize("problem", UNREACHED)
def test_a_database_that_cannot_be_reached_costs_nothing(problem, people, fate, monkeypatch):
    for name in ("PGPASSWORD", "PGPASSFILE"):
        monkeypatch.delenv(name, raising=False)
    change, words = UNREACHED[problem]
    found, said = fate(change(people[0]))
    assert found == REFUSED
    assert words in said


def test_a_table_that_may_not_be_read_costs_nothing(people, server, fate):
    url, connection = people
    connection.execute("DROP ROLE IF EXISTS reader")
    connection.execute("CREATE ROLE reader LOGIN PASSWORD 'canary/secret'")
    found, said = fate(url.replace("owner:", "reader:") + "#people")
    connection.execute("DROP ROLE reader")
    assert found == REFUSED
    assert "may not read it" in said


def test_a_database_that_can_only_be_read_is_read(people, fate):
    url, connection = people
    connection.execute(f"ALTER DATABASE {url.rpartition('/')[2]} SET default_transaction_read_only = on")
    assert fate(f"{url}#people")[0] == ANSWERED


def test_a_view_that_fails_is_charged_and_quotes_nothing(people, fate):
    url, connection = people
    assert fate(f"{url}#broken")[0] == CHARGED
    connection.execute("CREATE OR REPLACE VIEW broken AS SELECT ward, support FROM people")
    assert fate(f"{url}#broken")[0] == ANSWERED


def test_a_connection_that_is_lost_in_the_middle_is_charged_and_resumed(people, fate, monkeypatch):
    with monkeypatch.context() as patch:
        lost = "SELECT pg_terminate_backend(pg_backend_pid()), 1, 1, 1"
        patch.setattr(_PostgresEngine, "_text", lambda *_: lost)
        assert fate(f"{people[0]}#people")[0] == CHARGED
    assert fate(f"{people[0]}#people")[0] == ANSWERED
