"""What the tables of a ledger have to be in PostgreSQL, and whether they are that.

A view, a trigger, a rule, a policy, a table that loses its rows in a crash, another table of the same name that is
found first: each could make a charge vanish. So every transaction compares the server's own description of the tables
and functions, in the one schema that holds them, with what it has to say.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tinct.ledger import postgres_functions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from tinct.ledger.store import Row

_INT, _TEXT = "integer", "text"
_LONG = "text external"  # neither compressed nor, if it is long, in the row: every answer of a room is alike
_SCOPE = "(scope) references tinct_scopes (name)"
_NUMBER = "(number) references tinct_entries (number)"


@dataclass(frozen=True)
class TableShape:
    """The columns of a table in their order, none of which may be null, and its constraints, sorted."""

    columns: Mapping[str, str]
    constraints: tuple[str, ...]

    @property
    def text(self) -> str:
        """Both in the form in which the check finds them."""
        return "; ".join([*(f"{name} {kind}" for name, kind in self.columns.items()), *self.constraints])


def _columns(kind: str, *names: str) -> dict[str, str]:
    return dict.fromkeys(names, kind)


_ENTRY = {
    "number": _INT,
    **_columns(_TEXT, "request", "digest", "made", "who", "question", "scope", "partition_name", "group_names"),
    **_columns(_TEXT, "epsilon", "delta", "cost"),
}
_ENTRY_KEYS = (_SCOPE, "primary (number)", "unique (request)")
_SHARED = {
    "tinct_ledger": TableShape(
        {"id": _INT, "schema_version": _INT, "entries": _INT, "seal": _TEXT, "checksum": _TEXT},
        ("CHECK ((id = 1))", "primary (id)"),
    ),
    "tinct_scopes": TableShape(
        _columns(_TEXT, "name", "epsilon", "delta", "written", "composition", "details", "created", "checksum"),
        ("primary (name)",),
    ),
    "tinct_partitions": TableShape(
        _columns(_TEXT, "scope", "name", "statement", "who", "created", "checksum"),
        (_SCOPE, "primary (scope, name)"),
    ),
    "tinct_totals": TableShape(
        _columns(_TEXT, "scope", "partition_name", "group_name", "used", "checksum"),
        (_SCOPE, "primary (scope, partition_name, group_name)"),
    ),
}
_OLD = {**_SHARED, "tinct_entries": TableShape({**_ENTRY, "answer": _TEXT, "checksum": _TEXT}, _ENTRY_KEYS)}
_NEW = {
    **_SHARED,
    "tinct_entries": TableShape({**_ENTRY, "room": _INT, "checksum": _TEXT}, _ENTRY_KEYS),
    "tinct_declarations": TableShape(
        {"scope": _TEXT, "number": _INT, **_columns(_TEXT, "protects", "who", "made", "checksum")},
        (_SCOPE, "primary (scope, number)"),
    ),
    "tinct_rooms": TableShape({"number": _INT, "filler": _LONG}, (_NUMBER, "primary (number)")),
    "tinct_answers": TableShape(
        {"number": _INT, "state": _TEXT, "answer": _LONG, "checksum": _TEXT}, (_NUMBER, "primary (number)")
    ),
}
TABLES = tuple(_NEW)
STORAGE = (
    "ALTER TABLE tinct_rooms ALTER COLUMN filler SET STORAGE EXTERNAL",
    "ALTER TABLE tinct_answers ALTER COLUMN answer SET STORAGE EXTERNAL",
)


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(f"'{name}'" for name in names)


# Whatever has the name of one of our tables, in any schema of the configured search path
FIND = (
    "SELECT n.oid, quote_ident(n.nspname), (SELECT oid FROM pg_language WHERE lanname = 'plpgsql'), c.oid"  # noqa: S608 # our own names, here and below
    " FROM pg_namespace AS n JOIN pg_class AS c ON c.relnamespace = n.oid"
    " WHERE n.nspname = ANY(current_setting('tinct.path')::name[]) AND n.nspname NOT LIKE 'pg\\_%'"
    f" AND c.relname IN ({_listed(TABLES)})"
)

# The same in a schema whose number follows
FIND_IN = f"SELECT oid FROM pg_class WHERE relname IN ({_listed(TABLES)}) AND relnamespace = "  # noqa: S608

# Plain rows of the server's catalogues, with nothing computed: a new connection has to look up whatever a query uses,
# and this way the six together take it less time than one that says it all
_QUERIES = (
    "SELECT oid, relname, relowner, relnamespace, relkind, relpersistence, relam, relispartition, relhassubclass,"
    " relhasrules, relrowsecurity, relforcerowsecurity FROM pg_class WHERE oid IN ({tables})",
    "SELECT attrelid, attnum, attname, atttypid, attcollation, attstorage, attnotnull, atthasdef, attidentity,"
    " attgenerated, attinhcount FROM pg_attribute WHERE attrelid IN ({tables}) AND attnum > 0 AND NOT attisdropped",
    "SELECT conrelid, contype, conkey, confrelid, confkey, convalidated, condeferrable, confupdtype, confdeltype,"
    " confmatchtype, conindid, CASE WHEN contype = 'c' THEN pg_get_constraintdef(oid) END"
    " FROM pg_constraint WHERE conrelid IN ({tables})",
    "SELECT indrelid, indexrelid, indisvalid, indisready FROM pg_index WHERE indrelid IN ({tables})",
    "SELECT tgrelid, tgisinternal, tgenabled FROM pg_trigger WHERE tgrelid IN ({tables})",
    "SELECT proname, proowner, prosrc, proargtypes, prorettype, prolang, proconfig, prokind, prosecdef, provolatile,"  # noqa: S608
    " proretset, proisstrict, prosupport, pronargdefaults"
    f" FROM pg_proc WHERE pronamespace = {{schema}} AND proname IN ({_listed(postgres_functions.NAMES)})",
)
_TYPES = {(23, 0, "p"): _INT, (25, 100, "x"): _TEXT, (25, 100, "e"): _LONG}  # with the database's own collation
_HEAP = 2


def describe(schema: int, tables: Iterable[int]) -> tuple[str, ...]:
    """The queries for what is there, for the numbers that the server gave to the schema and to what it has of ours."""
    numbers = ", ".join(str(number) for number in tables) or "0"
    return tuple(query.replace("{tables}", numbers).replace("{schema}", str(schema)) for query in _QUERIES)


@dataclass(frozen=True)
class Thing:
    """A table or function as the server describes it, and what is odd about it."""

    name: str
    owner: int
    text: str
    odd: tuple[str, ...] = ()


def things(found: list[list[Row]], schema: int, language: int) -> list[Thing]:
    """What the queries found, put together."""
    tables = [row for row in found[0] if row[3] == schema]
    odd = {row[0]: [*_odd(row[4:])] for row in tables}
    columns, constraints, indexes, triggers = ([row for row in rows if row[0] in odd] for rows in found[1:5])
    texts: dict[int, list[str]] = {number: [] for number in odd}
    names = {row[0]: row[1] for row in tables}
    called: dict[int, dict[int, str]] = {}
    for number, at, name, kind, collation, storage, needed, *computed in sorted(columns):
        called.setdefault(number, {})[at] = name
        known = _TYPES.get((kind, collation, storage), "another type") if needed else "that may be null"
        texts[number].append(f"{name} {known}")
        odd[number] += [f"computes {name}, or has a default for it"] if computed != [False, "", "", 0] else []
    keys: dict[int, list[str]] = {number: [] for number in odd}
    for row in constraints:
        keys[row[0]] += _constraint(row, names, called)
    ours = {row[10] for row in constraints if row[1] in "pu"}
    for number, index, *usable in indexes:
        odd[number] += [] if all(usable) and index in ours else ["has an index that is not ours"]
    for number, internal, enabled in triggers:
        odd[number] += [] if internal and enabled == "O" else ["has a trigger, or one of its own is switched off"]
    return [
        *(
            Thing(row[1], row[2], "; ".join([*texts[row[0]], *sorted(keys[row[0]])]), tuple(odd[row[0]]))
            for row in tables
        ),
        *(Thing(row[0], row[1], postgres_functions.fingerprint(*row[2:], language)) for row in found[5]),
    ]


def _odd(row: Row) -> Iterator[str]:
    kind, lasting, method, *flags = row
    if kind != "r":
        yield "is not an ordinary table"
    elif method != _HEAP:
        yield "is not stored as a heap"
    if lasting != "p":
        yield "is temporary" if lasting == "t" else "is unlogged, so that a crash would empty it"
    words = ("is a partition", "has heirs, or had some: VACUUM it", "has a rule, or had one: VACUUM it")
    for word, flag in zip((*words, "has row-level security", "has row-level security"), flags, strict=True):
        if flag:
            yield word


def _constraint(row: Row, names: Mapping[int, str], called: Mapping[int, Mapping[int, str]]) -> list[str]:
    table, kind, columns, other, others, *state, _, text = row
    if kind == "n":  # newer servers list NOT NULL here too; the columns have it already
        return []
    if state != [True, False, *("aas" if kind == "f" else "   ")]:
        return ["a constraint that is not checked at once"]
    if kind == "c":
        return [text]
    own = ", ".join(called[table].get(at, "") for at in columns)
    if kind == "f":
        theirs = ", ".join(called.get(other, {}).get(at, "") for at in others)
        return [f"({own}) references {names.get(other, 'another')} ({theirs})"]
    return [f"{ {'p': 'primary', 'u': 'unique'}.get(kind, 'another constraint') } ({own})"]


def difference(found: list[Thing], schema: str, *, old: bool = False) -> str | None:
    """What is wrong with the tables of a ledger, of today or of the first schema; None if nothing is."""
    wanted = {name: table.text for name, table in (_OLD if old else _NEW).items()}
    wanted |= {} if old else postgres_functions.expected(schema)
    names = {thing.name for thing in found}
    for name in wanted:
        if name not in names:
            return f"{name} is missing"
    for thing in found:
        if thing.odd:
            return f"{thing.name} {thing.odd[0]}"
        if wanted.get(thing.name) != thing.text:
            return f"{thing.name} is not as it was made"
        if thing.owner != found[0].owner:
            return f"{thing.name} and {found[0].name} have different owners"
    return "there are two functions of one name" if len(found) != len(wanted) else None


def head_is_ours(found: list[Thing]) -> bool:
    """Whether at least the table that says the version is one of ours, so that it can be asked."""
    return any(
        (thing.name, thing.text, thing.odd) == ("tinct_ledger", _NEW["tinct_ledger"].text, ()) for thing in found
    )


def is_first(found: list[Thing]) -> bool:
    """Whether these look like the tables of the first schema, which had neither answers nor functions apart."""
    return {thing.name for thing in found} == {*_OLD}
