"""Asking about rows, wherever they are: against the engine's own aggregation of the same rows."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from benchmarks.measuring import seconds
from benchmarks.rows import Row, shown, slower
from tinct import ask

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROWS = 10_000_000
ROUNDS = 5
QUESTION = "median(cost, above=1200)"
COUNTED = "count(*) FILTER (WHERE {cost} > 1200), count(*) FILTER (WHERE {cost} <= 1200), count(*)"


def rows() -> Iterator[Row]:
    """Every comparison."""
    with tempfile.TemporaryDirectory() as folder:
        yield from files(Path(folder))
        yield from workbook(Path(folder))
    yield from postgres()


def files(folder: Path) -> Iterator[Row]:
    """Ten million rows in a file against the same aggregation in plain SQL."""
    import duckdb

    for suffix, limit in ((".parquet", 1.1), (".csv", 1.3)):
        path = folder / f"claims{suffix}"
        duckdb.sql(
            f"COPY (SELECT (random() * 2000)::INTEGER AS cost, 'r' || (random() * 5000)::INTEGER AS region "
            f"FROM range({ROWS})) TO '{path}'"
        )
        is_text = suffix == ".csv"
        read = f"read_csv('{path}', all_varchar=true)" if is_text else f"'{path}'"
        counted = COUNTED.format(cost="try_cast(cost AS DOUBLE)" if is_text else "cost")
        whole, by = f"SELECT {counted} FROM {read}", f"SELECT region, {counted} FROM {read} GROUP BY region"
        for what, sql, mine in (
            (f"ask about 10 million rows, {suffix}", whole, partial(ask, path, QUESTION, 1)),
            (f"ask for 5,001 groups of them, {suffix}", by, partial(ask, path, QUESTION, 1, "1e-6", by="region")),
        ):
            yield _compared(what, mine, "DuckDB's own aggregation", partial(_duckdb, sql), limit)


def workbook(folder: Path) -> Iterator[Row]:
    """A hundred thousand rows of a spreadsheet."""
    from openpyxl import Workbook  # type: ignore[import-untyped, unused-ignore]

    path, book = folder / "claims.xlsx", Workbook(write_only=True)
    sheet = book.create_sheet("claims")
    sheet.append([f"c{at}" for at in range(7)] + ["cost"])
    for at in range(100_000):
        sheet.append([at, at / 7, f"word {at % 100}", "yes", at % 3, None, "x", at % 2000])
    book.save(path)
    mine = seconds(partial(ask, path, QUESTION, 1), 3)
    yield Row("ask about 100,000 rows of 8 columns, .xlsx", shown(mine), "", "", "seconds", mine < 10)


def postgres() -> Iterator[Row]:
    """Ten million rows of a server against its own count."""
    import psycopg

    with _server() as url, psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "CREATE UNLOGGED TABLE claims AS "
            "SELECT (random() * 2000)::int AS cost, 'r' || (random() * 5000)::int AS region "
            f"FROM generate_series(1, {ROWS})"
        )
        connection.execute("VACUUM ANALYZE claims")
        counted = COUNTED.format(cost="cost")
        data = f"{url}#claims"
        whole, by = f"SELECT {counted} FROM claims", f"SELECT region, {counted} FROM claims GROUP BY region"
        for what, sql, mine in (
            ("ask about 10 million rows, PostgreSQL", whole, partial(ask, data, QUESTION, 1)),
            ("ask for 5,001 groups of them, PostgreSQL", by, partial(ask, data, QUESTION, 1, "1e-6", by="region")),
        ):
            other = partial(lambda text: connection.execute(text).fetchall(), sql)
            yield _compared(what, mine, "its own count(*) FILTER", other, 1.2)


@contextmanager
def _server() -> Iterator[str]:
    """The address of a PostgreSQL server of our own."""
    programs = max(Path("/usr/lib/postgresql").glob("*/bin"))
    as_whom: dict[str, Any] = {} if os.getuid() else {"user": "postgres"}  # it refuses to run as root
    with tempfile.TemporaryDirectory() as home, socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        if as_whom:
            shutil.chown(home, "postgres")

        def run(*line: object) -> None:
            command = [str(programs / str(line[0])), "-D", f"{home}/data", *map(str, line[1:])]
            subprocess.run(command, check=True, cwd="/", stdout=subprocess.DEVNULL, **as_whom)  # our own

        run("initdb", "--encoding=UTF8", "--no-locale", "--username=owner", "--auth=trust")
        run("pg_ctl", "-l", f"{home}/log", "-o", f"-p {port} -c listen_addresses=127.0.0.1 -k {home}", "-w", "start")
        try:
            yield f"postgresql://owner@127.0.0.1:{port}/postgres"
        finally:
            run("pg_ctl", "-m", "immediate", "-w", "stop")


def _compared(what: str, mine: Callable[[], Any], against: str, other: Callable[[], Any], limit: float) -> Row:
    """Medians of rounds in turns: the machine may have other work, which meets both."""
    mine(), other()
    rounds = [(seconds(mine, 1), seconds(other, 1)) for _ in range(ROUNDS)]
    return slower(what, median(a for a, _ in rounds), against, median(b for _, b in rounds), limit)


def _duckdb(text: str) -> list[tuple[object, ...]]:
    import duckdb

    with duckdb.connect() as connection:
        return connection.sql(text).fetchall()
