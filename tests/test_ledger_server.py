"""A ledger in PostgreSQL among others who write to the database: names, tables, roles, sizes, and older ledgers."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import threading
from fractions import Fraction
from pathlib import Path

import pytest
from typer.testing import CliRunner

import ledger_harness as harness
from tinct.cli.budget import app
from tinct.errors import FileError, NotAnswered, ParameterError
from tinct.ledger import Ledger, postgres, postgres_catalog, postgres_functions, postgres_roles, stored_rows
from tinct.ledger.charges import checked_charge
from tinct.ledger.upgrade import FIRST_TABLES

psycopg = pytest.importorskip("psycopg")
pytestmark = pytest.mark.skipif(
    harness.Server.programs() is None, reason="no PostgreSQL server is installed (Debian: apt install postgresql)"
)
OLD = Path(__file__).parent / "ledger_of_schema_1.sql"


@pytest.fixture
def place(server, request):
    """A schema of its own, which takes less of the disk than a database."""
    return schema_in(server, f"s{abs(hash(request.node.name)) % 10**9}")


def schema_in(server, name):
    server.run(f"CREATE SCHEMA {name}")
    return f"{server.url()}?options=-csearch_path%3D{name}"


def never() -> str:
    raise AssertionError("draw was called")


def sql(place: str, *statements: str):
    """Run statements as a psql prompt would, and return the rows of the last."""
    with psycopg.connect(place, autocommit=True) as connection:
        for statement in statements:
            cursor = connection.execute(statement)
        return cursor.fetchall() if cursor.description else []


# tables that are not what they seem


TAMPERED = {
    "a view in place of a table": (
        ["ALTER TABLE tinct_totals RENAME TO hidden", "CREATE VIEW tinct_totals AS SELECT * FROM hidden"],
        "tinct_totals is not an ordinary table",
    ),
    "a table that is missing": (["DROP TABLE tinct_rooms"], "tinct_rooms is missing"),
    "a trigger": (
        [
            "CREATE TRIGGER x BEFORE INSERT ON tinct_totals FOR EACH ROW"
            " EXECUTE FUNCTION suppress_redundant_updates_trigger()"
        ],
        "tinct_totals has a trigger",
    ),
    "references that are not checked": (["ALTER TABLE tinct_answers DISABLE TRIGGER ALL"], "switched off"),
    "a rule": (["CREATE RULE x AS ON INSERT TO tinct_entries DO INSTEAD NOTHING"], "tinct_entries has a rule"),
    "row-level security": (
        [
            "CREATE POLICY x ON tinct_totals USING (false)",
            "ALTER TABLE tinct_totals ENABLE ROW LEVEL SECURITY",
            "ALTER TABLE tinct_totals FORCE ROW LEVEL SECURITY",
        ],
        "tinct_totals has row-level security",
    ),
    "an unlogged table": (["ALTER TABLE tinct_answers SET UNLOGGED"], "tinct_answers is unlogged"),
    "a further column": (["ALTER TABLE tinct_scopes ADD note text"], "tinct_scopes is not as it was made"),
    "a column less": (["ALTER TABLE tinct_scopes DROP created"], "tinct_scopes is not as it was made"),
    "another type": (
        ["ALTER TABLE tinct_totals ALTER used TYPE varchar"],
        "tinct_totals is not as it was made",
    ),
    "another collation": (
        ['ALTER TABLE tinct_entries ALTER request TYPE text COLLATE "C"'],
        "tinct_entries is not as it was made",
    ),
    "a column that may be null": (["ALTER TABLE tinct_answers ALTER answer DROP NOT NULL"], "tinct_answers is not"),
    "a default": (["ALTER TABLE tinct_totals ALTER used SET DEFAULT '{}'"], "computes used, or has a default"),
    "a generated column": (
        ["ALTER TABLE tinct_totals ADD twice text GENERATED ALWAYS AS (used || used) STORED"],
        "computes twice, or has a default",
    ),
    "requests that may repeat": (
        ["ALTER TABLE tinct_entries DROP CONSTRAINT tinct_entries_request_key"],
        "tinct_entries is not as it was made",
    ),
    "answers that may repeat": (
        ["ALTER TABLE tinct_answers DROP CONSTRAINT tinct_answers_pkey"],
        "tinct_answers is not as it was made",
    ),
    "a reference that is gone": (
        ["ALTER TABLE tinct_answers DROP CONSTRAINT tinct_answers_number_fkey"],
        "tinct_answers is not as it was made",
    ),
    "a reference that deletes": (
        [
            "ALTER TABLE tinct_answers DROP CONSTRAINT tinct_answers_number_fkey",
            "ALTER TABLE tinct_answers ADD FOREIGN KEY (number) REFERENCES tinct_entries ON DELETE CASCADE",
        ],
        "tinct_answers is not as it was made",
    ),
    "a check that is gone": (
        ["ALTER TABLE tinct_ledger DROP CONSTRAINT tinct_ledger_id_check"],
        "tinct_ledger is not as it was made",
    ),
    "a further check": (["ALTER TABLE tinct_totals ADD CHECK (used <> '')"], "tinct_totals is not as it was made"),
    "an index of somebody else's": (
        ["CREATE INDEX x ON tinct_totals (lower(used))"],
        "tinct_totals has an index that is not ours",
    ),
    "an heir": (["CREATE TABLE heir () INHERITS (tinct_entries)"], "tinct_entries has heirs"),
    "another owner": (
        ["CREATE ROLE somebody", "ALTER TABLE tinct_totals OWNER TO somebody"],
        "have different owners",
    ),
    "answers that are compressed": (
        ["ALTER TABLE tinct_answers ALTER answer SET STORAGE EXTENDED"],
        "tinct_answers is not as it was made",
    ),
    "another function": (
        [
            "CREATE OR REPLACE FUNCTION tinct_answer(p_number integer, p_state text, p_answer text, p_checksum text)"
            " RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS 'BEGIN END'"
        ],
        "tinct_answer is not as it was made",
    ),
    "a second function of the name": (
        ["CREATE FUNCTION tinct_answer(integer, text, text, integer) RETURNS void LANGUAGE sql AS 'SELECT'"],
        "tinct_answer is not as it was made",
    ),
    "a function that searches elsewhere": (
        ["ALTER FUNCTION tinct_covers SET search_path = public"],
        "tinct_covers is not as it was made",
    ),
}


@pytest.mark.parametrize("what", TAMPERED)
def test_a_charge_is_refused_before_the_draw_if_the_tables_are_not_ours(place, what):
    """Views, triggers, rules, policies, lost constraints: a FileError that says what it is, for old and new clients."""
    ledger = Ledger(place, 1)
    ledger.charge(lambda: "yes", epsilon="0.1")
    statements, words = TAMPERED[what]
    sql(place, *statements)
    for attempt in (lambda: ledger.charge(never, epsilon="0.1"), lambda: Ledger(place), lambda: Ledger(place, 1)):
        with pytest.raises(FileError, match="the tables are not those of a ledger") as refused:
            attempt()
        assert words in str(refused.value)


def test_a_shadow_in_an_earlier_schema_is_refused_and_one_that_comes_later_is_not_looked_at(database):
    """A table of our name that the path finds first makes nothing free: new clients refuse, old ones ignore it."""
    ledger = Ledger(database, 1)
    sql(
        database,
        'CREATE SCHEMA "owner"',
        'CREATE TABLE "owner".tinct_totals (LIKE public.tinct_totals INCLUDING ALL)',
    )
    ledger.charge(lambda: "yes", epsilon="0.3")
    assert ledger.spent().epsilon == Fraction("0.3")
    assert sql(database, 'SELECT count(*) FROM "owner".tinct_totals') == [(0,)]
    with pytest.raises(FileError, match="more than one schema of the search path"):
        Ledger(database)
    with pytest.raises(FileError, match="more than one schema of the search path"):
        Ledger(database, 1)
    chosen = Ledger(f"{database}?options=-csearch_path%3Dpublic")
    assert chosen.spent().epsilon == Fraction("0.3")


def test_operators_and_functions_of_others_are_never_called(database):
    """Those in an earlier schema, and those that a path puts before the server's own, are not found."""
    sql(
        database,
        "CREATE SCHEMA early",
        "CREATE FUNCTION early.current_schemas(boolean) RETURNS name[] LANGUAGE plpgsql AS"
        " $$ BEGIN RAISE 'called'; END $$",
        "CREATE FUNCTION early.same(text, text) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE 'called'; END $$",
        "CREATE OPERATOR early.= (LEFTARG = text, RIGHTARG = text, FUNCTION = early.same)",
        "CREATE OPERATOR early.|| (LEFTARG = text, RIGHTARG = text, FUNCTION = early.same)",
    )
    place = f"{database}?options=-csearch_path%3Dearly,pg_catalog,public"
    ledger = Ledger(place, 1)  # in the first schema of the path, whatever else is in it
    ledger.charge(lambda: "yes", epsilon="0.3")
    assert (ledger.audit(), ledger.spent().epsilon) == (1, Fraction("0.3"))
    assert sql(database, "SELECT count(*) FROM early.tinct_entries") == [(1,)]


def test_temporary_tables_never_hide_the_real_ones(database, monkeypatch):
    """A connection that others have used may have temporary tables of our names; the charge goes where it belongs."""
    Ledger(database, 1)
    connect = psycopg.connect

    def used(*arguments, **options):
        connection = connect(*arguments, **options)
        for name in postgres_catalog.TABLES:
            connection.execute(f"CREATE TEMPORARY TABLE {name} (LIKE public.{name} INCLUDING ALL)")
        return connection

    with monkeypatch.context() as patched:
        patched.setattr(psycopg, "connect", used)
        Ledger(database).charge(lambda: "yes", epsilon="0.3")
    assert Ledger(database).spent().epsilon == Fraction("0.3")


def test_a_ledger_may_be_in_a_schema_with_any_name(database):
    """Quotes, blanks and signs in the name of the schema are only letters."""
    schema = """wei"rd 'na?me%s, "x"""
    with psycopg.connect(database, autocommit=True) as connection:
        quoted = connection.execute("SELECT quote_ident(%s)", [schema]).fetchone()[0]
    sql(
        database,
        f"CREATE SCHEMA {quoted}",
        f"ALTER ROLE owner IN DATABASE {database.rsplit('/')[-1]} SET search_path = {quoted}",
    )
    ledger = Ledger(database, 1)
    ledger.charge(lambda: "yes", epsilon="0.3")
    assert Ledger(database).audit() == 1


def test_a_database_that_cannot_hold_every_letter_is_refused(server):
    """Whether an answer can be stored must not depend on its letters."""
    server.run("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
    with pytest.raises(FileError, match="a ledger needs one in UTF8"):
        Ledger(server.url("latin"), 1)


# the asking role


def asking_in(server, name):
    """A ledger with charges of several kinds, the same for somebody who may ask, and the URL of that."""
    place, role = schema_in(server, name), f"asker_{name}"
    server.run(f"CREATE ROLE {role} LOGIN PASSWORD 'canary/secret'")
    owner = Ledger(place, 1)
    owner.add_scope("advanced", 1, "1e-6", composition="advanced", slack="1e-6")
    owner.add_partition("ward", "one each")
    postgres_roles.grant(place, role)
    prompt = place.replace("//owner:", f"//{role}:")
    asker = Ledger(prompt)
    asker.charge(lambda: "yes", epsilon="0.2", request="first")
    asker.charge(lambda: "no", epsilon="1/3", partition="ward", group=["north", "süd"], request="groups")
    asker.grant(epsilon="0.1", request="open", room=4)
    return owner, asker, prompt


@pytest.fixture
def asking(server, request):
    return asking_in(server, f"a{abs(hash(request.node.name)) % 10**9}")


@pytest.fixture(scope="module")
def guarded(server):
    """One for all attacks that must leave it as it is."""
    return asking_in(server, "guarded")


def test_whoever_may_ask_can_do_all_that_asking_needs(asking):
    """Charges, groups, repetitions, completions, reading and audits work without a right to write any table."""
    owner, asker, _ = asking
    assert asker.charge(never, epsilon="0.2", request="first").answer == "yes"
    assert asker.charge(lambda: "ä", epsilon="0.1", request="open", room=4).answer == "ä"
    assert asker.audit() == owner.audit() == 3
    assert asker.spent() == owner.spent()
    with pytest.raises(NotAnswered):
        asker.charge(lambda: "long", epsilon="0.01", room=4)
    for attempt in (lambda: asker.add_scope("mine", 1), lambda: asker.add_partition("mine", "so")):
        with pytest.raises(FileError, match="the user may not do this"):
            attempt()


ATTACKS = [
    "UPDATE tinct_totals SET used = '{}'",
    "DELETE FROM tinct_totals",
    "TRUNCATE tinct_totals",
    "INSERT INTO tinct_totals VALUES ('default', 'x', '', '{}', '')",
    "INSERT INTO tinct_totals VALUES ('default', '', '', '{}', '') ON CONFLICT (scope, partition_name, group_name)"
    " DO UPDATE SET used = excluded.used",
    "MERGE INTO tinct_totals AS t USING (SELECT 1) AS x ON true WHEN MATCHED THEN DELETE",
    "UPDATE tinct_ledger SET entries = 0",
    "DELETE FROM tinct_ledger",
    "SELECT * FROM tinct_ledger FOR UPDATE",
    "UPDATE tinct_entries SET epsilon = '0'",
    "DELETE FROM tinct_entries",
    "INSERT INTO tinct_entries SELECT 9, 'free', digest, made, who, question, scope, partition_name, group_names,"
    " epsilon, delta, cost, room, checksum FROM tinct_entries WHERE number = 1",
    "UPDATE tinct_answers SET answer = 'no'",
    "DELETE FROM tinct_answers",
    "INSERT INTO tinct_answers VALUES (1, 'a', 'no', '')",
    "INSERT INTO tinct_answers VALUES (3, 'a', 'no  ', '')",
    "DELETE FROM tinct_rooms",
    "INSERT INTO tinct_rooms VALUES (1, 'x')",
    "UPDATE tinct_scopes SET epsilon = '1000', written = '1000'",
    "INSERT INTO tinct_scopes SELECT 'rich', epsilon, delta, written, composition, details, created, checksum"
    " FROM tinct_scopes",
    "INSERT INTO tinct_declarations SELECT scope, 2, protects, who, made, checksum FROM tinct_declarations",
    "DELETE FROM tinct_declarations",
    "INSERT INTO tinct_partitions SELECT scope, 'x', statement, who, created, checksum FROM tinct_partitions",
    "UPDATE tinct_partitions SET statement = 'all'",
    "TRUNCATE tinct_ledger CASCADE",
    "DROP TABLE tinct_answers",
    "DROP FUNCTION tinct_charge",
    "ALTER TABLE tinct_totals DISABLE TRIGGER ALL",
    "ALTER TABLE tinct_totals OWNER TO CURRENT_USER",
    "ALTER TABLE tinct_totals SET SCHEMA pg_temp",
    "CREATE TRIGGER x BEFORE INSERT ON tinct_totals FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()",
    "CREATE RULE x AS ON INSERT TO tinct_totals DO INSTEAD NOTHING",
    "CREATE POLICY x ON tinct_totals USING (false)",
    "CREATE INDEX ON tinct_totals (used)",
    "CREATE TABLE guarded.heir () INHERITS (tinct_totals)",
    "CREATE TABLE guarded.child (number integer REFERENCES guarded.tinct_entries)",
    "CREATE FUNCTION guarded.tinct_charge() RETURNS void LANGUAGE sql AS 'SELECT'",
    "CREATE OR REPLACE FUNCTION guarded.tinct_covers(total jsonb, one jsonb, other jsonb) RETURNS boolean"
    " LANGUAGE sql AS 'SELECT true'",
    "ALTER FUNCTION tinct_charge SECURITY INVOKER",
    "GRANT UPDATE ON tinct_totals TO CURRENT_USER; UPDATE tinct_totals SET used = '{}'",
    "SET ROLE owner",
    "SET SESSION AUTHORIZATION owner",
    "SET session_replication_role = replica",
    "CREATE SCHEMA early",
    "COPY tinct_totals FROM PROGRAM 'true'",
    "BEGIN; LOCK TABLE tinct_totals IN EXCLUSIVE MODE",
    "UPDATE pg_catalog.pg_class SET relrowsecurity = true WHERE relname = 'tinct_totals'",
    "SELECT tinct_covers('{}', '{}', '{}')",
    "SELECT tinct_answer(1, 'a', rpad('\"no\"', 4096), '')",  # there is one
    "SELECT tinct_answer(3, 'a', 'no', '')",  # shorter than its room
    "SELECT tinct_answer(3, 'c', 'no  ', '')",
    "SELECT tinct_answer(9, 'a', 'no', '')",
]


@pytest.mark.filterwarnings("ignore")
def test_whoever_may_ask_can_change_nothing_at_a_prompt(guarded):
    """No total, entry, answer, counter, budget or declaration can be lowered, changed, deleted or stored twice."""
    owner, _, prompt = guarded
    rows = "SELECT * FROM {} ORDER BY 1, 2".format
    before = [sql(owner._store._url, rows(name)) for name in postgres_catalog.TABLES]
    for statement in ATTACKS:
        with pytest.raises(psycopg.Error) as refused:
            sql(prompt, statement)
        # for want of the right, because the owner's function says no, or because there is an answer: not for a typo
        assert refused.value.sqlstate in {"42501", postgres_functions.REFUSED, "23505"}, (statement, refused.value)
    assert [sql(owner._store._url, rows(name)) for name in postgres_catalog.TABLES] == before
    assert owner.audit() == 3


def call(prompt: str, **changes):
    """Call the function that charges as a client would for the fourth charge, of 0.1, but with changes."""
    scope, cost = changes.get("scope", "default"), changes.get("cost", {"delta": "0", "epsilon": "0.1"})
    charge = checked_charge("0.1", 0, changes.get("request", "forged"), "", None, scope, None, None, "eve", None, 8)
    row = list(stored_rows.entry_row(changes.get("number", 4), charge, {}))
    row[7:13] = [
        changes.get("partition", ""),
        json.dumps(changes.get("groups", [])),
        changes.get("epsilon", "0.1"),
        changes.get("delta", "0"),
        json.dumps(cost, sort_keys=True, separators=(",", ":")),
        changes.get("room", 8),
    ]
    row = stored_rows.sealed(*row[:13])
    totals = changes.get("totals", {"": {"delta": "0", "epsilon": "0.4"}})
    texts = [
        (group, used if isinstance(used, str) else json.dumps(used, sort_keys=True, separators=(",", ":")))
        for group, used in totals.items()
    ]
    sealed = [stored_rows.sealed(scope, row[7], group, text)[2:] for group, text in texts]
    with psycopg.connect(prompt, autocommit=True) as connection:
        connection.execute(postgres_functions.CALLS["tinct_charge"].replace("?", "%s"), [*row, json.dumps(sealed)])


def eps(amount):
    """A vector as it is stored, of ε alone."""
    return {"delta": "0", "epsilon": amount}


FORGED = {
    "a number that was used": {"number": 3},
    "a number too high": {"number": 5},
    "a request that was used": {"request": "first"},
    "a cost below its epsilon": {"cost": eps("0")},
    "a cost without epsilon": {"cost": {"delta": "0"}},
    "a cost below its delta": {"delta": "1e-6"},
    "a negative cost": {"epsilon": "-0.1", "cost": eps("-0.1"), "totals": {"": eps("0.2")}},
    "a total as it was": {"totals": {"": eps("0.3")}},
    "a total just too low": {"totals": {"": eps("0.39999999999999999999999999999999999")}},
    "a total just too low, as a fraction": {"totals": {"": eps("39999999999999999999999/100000000000000000000000")}},
    "a total of nothing": {"totals": {"": {}}},
    "a total that is lower": {"totals": {"": eps("0")}},
    "a total that is no number": {"totals": {"": eps("NaN")}},
    "a total that is infinite": {"totals": {"": eps("Infinity")}},
    "a total divided by zero": {"totals": {"": eps("1/0")}},
    "a total with a sign": {"totals": {"": eps("--0.4")}},
    "a total that is a float": {"totals": {"": eps(0.4)}},
    "a total that is null": {"totals": {"": "null"}},
    "a total that is a list": {"totals": {"": '["0.4"]'}},
    "a total with an exponent beyond reason": {"totals": {"": eps("1e99999")}},
    "no totals": {"totals": {}},
    "totals of another group": {"totals": {"x": eps("0.4")}},
    "a partition that nobody declared": {
        "partition": "x",
        "groups": ["a"],
        "totals": {"": eps("0.1"), "a": eps("0.1")},
    },
    "a partition without groups": {"partition": "ward"},
    "groups without a partition": {"groups": ["north"]},
    "a group without a name": {"partition": "ward", "groups": [""]},
    "a group whose total is left out": {"partition": "ward", "groups": ["north"], "totals": {"": eps("13/30")}},
    "a group whose total is too low": {
        "partition": "ward",
        "groups": ["north"],
        "totals": {"": eps("13/30"), "north": eps("1/3")},
    },
    "a partition whose maximum is too low": {
        "partition": "ward",
        "groups": ["north"],
        "totals": {"": eps("1/3"), "north": eps("13/30")},
    },
    "a scope that is not there": {"scope": "x"},
    "no room": {"room": 0},
    "too much room": {"room": 2**28 + 1},
}


@pytest.mark.parametrize("what", FORGED)
def test_a_forged_charge_is_refused_unless_it_adds_up(guarded, what):
    """The owner's function takes no charge that leaves a total too low by however little; nothing has changed then."""
    owner, _, prompt = guarded
    spent = owner.spent()
    with pytest.raises(psycopg.Error):
        call(prompt, **FORGED[what])
    assert (owner.audit(), owner.spent()) == (3, spent)


def test_a_forged_charge_that_adds_up_is_a_charge(asking):
    """What is left to somebody at a prompt is to waste the budget: nothing is free, and the ledger stays sound."""
    owner, asker, prompt = asking
    call(prompt)
    assert (owner.audit(), owner.history()[-1].who) == (4, "eve")
    assert owner.spent().epsilon == Fraction("0.4") + Fraction(1, 3)
    north = {"delta": "0", "epsilon": "13/30"}
    call(prompt, number=5, request="g", partition="ward", groups=["north"], totals={"": north, "north": north})
    assert owner.audit() == 5
    assert asker.charge(lambda: 1, epsilon="0.01").number == 6


def test_no_answer_is_drawn_for_a_charge_beyond_the_budget_or_below_its_cost(asking):
    """Whoever forges a charge and then asks under its request gets nothing: clients know what it should have cost."""
    owner, asker, prompt = asking
    vector = {"delta": "0", "epsilon": "0.1", "order": "0"}
    call(prompt, request="cheap", scope="advanced", cost=vector, totals={"": vector})
    with pytest.raises(FileError, match="was charged less than it costs"):
        asker.charge(never, epsilon="0.1", scope="advanced", request="cheap")
    for number in range(5, 9):
        call(prompt, number=number, request=f"more-{number}", totals={"": {"delta": "0", "epsilon": f"0.{number - 1}"}})
    with pytest.raises(FileError, match="has spent more than its budget"):
        asker.charge(never, epsilon="0.1", request="more-8")
    with pytest.raises(FileError, match="has spent more than its budget"):
        owner.audit()


def test_the_owner_grants_exactly_what_asking_needs(server, database):
    """A role that can do more by itself, through others or as everybody is refused; so are files and strangers."""
    Ledger(database, 1)
    name = database.rsplit("/", 1)[1]
    roles_made = [f"{kind}_{name}" for kind in ("super", "maker", "heir", "writer", "creator", "column", "plain")]
    options = {"super": "SUPERUSER", "maker": "CREATEROLE"}
    for role in roles_made:
        server.run(f"CREATE ROLE {role} LOGIN PASSWORD 'canary/secret' {options.get(role.split('_')[0], '')}")
    wide = f"wide_{name}"
    sql(
        database,
        f"CREATE ROLE {wide}",
        f"GRANT UPDATE ON tinct_totals TO {wide}",
        f"GRANT {wide} TO writer_{name}",
        f"GRANT owner TO heir_{name}",
        f"ALTER ROLE heir_{name} NOINHERIT",
        f"GRANT CREATE ON SCHEMA public TO creator_{name}",
        f"CREATE ROLE cols_{name}",
        f"GRANT UPDATE (used) ON tinct_totals TO cols_{name}",
        f"GRANT cols_{name} TO column_{name}",
    )
    for role in roles_made[:-1]:
        with pytest.raises(FileError, match="it can do more than ask"):
            postgres_roles.grant(database, role)
    done = CliRunner().invoke(app, ["grant", database, f"plain_{name}"])
    assert (done.exit_code, done.output) == (0, f"plain_{name} may ask.\n")
    plain = database.replace("//owner:", f"//plain_{name}:")
    assert Ledger(plain).charge(lambda: 1, epsilon="0.1").answer == 1
    sql(database, f"GRANT UPDATE ON tinct_totals TO plain_{name}")
    postgres_roles.grant(database, f"plain_{name}")  # again: what was granted beyond it is taken back
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        sql(plain, "UPDATE tinct_totals SET used = '{}'")
    with pytest.raises(FileError, match="the user may not do this"):
        postgres_roles.grant(plain, f"plain_{name}")
    with pytest.raises(FileError, match="there is no such role"):
        postgres_roles.grant(database, 'no"body')
    with pytest.raises(ParameterError, match="roles are for ledgers in PostgreSQL"):
        postgres_roles.grant("budget.db", "ada")
    with pytest.raises(ParameterError, match="a role is named by text"):
        postgres_roles.grant(database, "")


# what the server stores


def test_no_size_on_the_server_depends_on_the_answer(database):
    """Short and long, simple and random answers take the same bytes in their row, in its chunks and in the log."""
    room = 6000
    answers = ["", "a" * 5000, os.urandom(2900).hex(), "ä" * 2900, "yes", "é" + os.urandom(2000).hex()]
    ledger = Ledger(database, 100)
    logged: dict[str, list[int]] = {}
    toast = sql(database, "SELECT reltoastrelid::regclass::text FROM pg_class WHERE relname = 'tinct_answers'")[0][0]
    for _ in range(4):
        for answer in answers:
            entry = ledger.grant(epsilon="0.1", room=room)
            with psycopg.connect(database, autocommit=True) as other:
                lsn = "SELECT pg_current_wal_insert_lsn()"
                start = other.execute(lsn).fetchone()[0]
                assert ledger.answer(entry, lambda answer=answer: answer).answer == answer
                bytes_logged = other.execute("SELECT (pg_current_wal_insert_lsn() - %s::pg_lsn)::int", [start])
                logged.setdefault(answer, []).append(bytes_logged.fetchone()[0])
    sizes = "SELECT DISTINCT pg_column_size(answer), octet_length(answer), pg_column_size(a.*) FROM tinct_answers AS a"
    assert sql(database, sizes)[0][:2] == (room, room)
    assert len(sql(database, sizes)) == 1
    chunks = f"SELECT DISTINCT count(*), sum(length(chunk_data)) FROM {toast} GROUP BY chunk_id"  # noqa: S608
    assert len(sql(database, chunks)) == 1
    least = {min(found) for found in logged.values()}  # now and then a new page, a checkpoint or a vacuum is logged too
    assert max(least) - min(least) <= 8 * 8, logged  # records are aligned to 8 bytes where a page of the log begins


# ledgers of the first schema


def old_ledger(place: str) -> None:
    """Tables as the first version made them, with rows that it wrote."""
    with contextlib.closing(sqlite3.connect(":memory:")) as file:
        file.executescript(OLD.read_text(encoding="utf-8"))
        names = ("tinct_ledger", "tinct_scopes", "tinct_partitions", "tinct_totals", "tinct_entries")
        rows = {name: file.execute(f"SELECT * FROM {name}").fetchall() for name in names}  # noqa: S608
    with psycopg.connect(place) as connection:
        for statement in FIRST_TABLES:
            connection.execute(statement)
        for name, found in rows.items():
            for row in found:
                connection.execute(f"INSERT INTO {name} VALUES ({', '.join(['%s'] * len(row))})", row)  # noqa: S608


def test_an_older_ledger_is_upgraded_when_it_is_opened(database):
    """All charges, totals, answers and partitions are there; it goes on, and is one of today to the last constraint."""
    old_ledger(database)
    ledger = Ledger(database)
    assert ledger.audit() == 4
    assert [entry.older for entry in ledger.history()] == [True] * 4
    assert ledger.spent().epsilon == Fraction("0.3") + Fraction(1, 3)
    assert ledger.spent("staff").epsilon == 1
    assert ledger.partitions() == {"ward": "everybody is registered in one ward"}
    ledger.charge(lambda: "yes", epsilon="0.1", partition="ward", group="N")
    assert Ledger(database, "ln 3", "1e-5").audit() == 5


def test_several_clients_upgrade_an_older_ledger_once(database):
    """Eight at once: one upgrades, the others find it done, and each gets its charge."""
    old_ledger(database)
    ready, failures = threading.Barrier(8), []

    def client(number):
        ready.wait()
        try:
            Ledger(database).charge(lambda: number, epsilon="0.01", request=f"client-{number}")
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=client, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert Ledger(database).audit() == 12


@pytest.mark.parametrize("how", ["raises", "disconnected"])
def test_an_interrupted_upgrade_leaves_the_older_ledger(database, monkeypatch, how):
    """One transaction: whatever ends it in the middle, the old tables are as they were, and the next one works."""
    old_ledger(database)
    before = sql(database, "SELECT * FROM tinct_entries ORDER BY number")

    def cut(session, count):
        if how == "raises":
            raise KeyboardInterrupt
        sql(database, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
            " AND datname = current_database()")  # fmt: skip
        session.run("SELECT 1")

    with monkeypatch.context() as patched:
        patched.setattr(stored_rows, "set_entry_count", cut)
        with pytest.raises((KeyboardInterrupt, FileError)):
            Ledger(database)
    assert sql(database, "SELECT * FROM tinct_entries ORDER BY number") == before
    assert sql(database, "SELECT to_regclass('tinct_answers') IS NULL") == [(True,)]
    assert Ledger(database).audit() == 4


def test_an_older_ledger_that_was_changed_is_not_upgraded(database):
    """Its tables are checked before as today's are, and its rows against their checksums."""
    old_ledger(database)
    sql(database, "CREATE RULE x AS ON DELETE TO tinct_totals DO INSTEAD NOTHING")
    with pytest.raises(FileError, match="tinct_totals has a rule"):
        Ledger(database)
    sql(database, "DROP RULE x ON tinct_totals", "VACUUM tinct_totals", "UPDATE tinct_entries SET epsilon = '0'")
    with pytest.raises(FileError, match="does not match its checksum"):
        Ledger(database)
    assert sql(database, "SELECT to_regclass('tinct_answers') IS NULL") == [(True,)]


def test_a_view_of_somebody_else_on_an_older_ledger_is_named_as_the_reason(database):
    """What depends on the old tables is not dropped with them."""
    old_ledger(database)
    sql(database, "CREATE VIEW report AS SELECT * FROM tinct_entries")
    with pytest.raises(FileError, match="something else in the database depends on the tables"):
        Ledger(database)
    sql(database, "DROP VIEW report")
    assert Ledger(database).audit() == 4


def test_a_client_that_waits_for_an_upgrade_finds_the_new_tables(database):
    """The numbers of the tables that it has looked up are out of date when the lock is its own."""
    old_ledger(database)
    store = postgres.PostgresStore(database, 30)
    with store._connected() as session, store._ending(session, postgres._WRITE):
        store._place = store._found(session)
    Ledger(database)
    with store.writing() as session:
        assert stored_rows.entry_count(session) == 4
