"""Attacks on the ledger with real processes: races, SIGKILL, failing disks, power cuts.

The tests run them, and so can you: ``python tests/ledger_harness.py races --count 200``.

Every attack knows which answers were drawn and which were shown, reads what was recorded with plain SQL, and counts
what must be 0: answers shown but not recorded, drawn but not charged, or drawn again after they were stored; grants
beyond the budget; damaged files. The wrong orders of operations at the end of this file are there to show that the
attacks notice them.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import errno
import functools
import json
import os
import random
import select
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from pathlib import Path
from unittest import mock

from tinct.errors import BudgetExceeded, FileError, NotAnswered
from tinct.ledger import Ledger, sqlite, stored_rows
from tinct.ledger.charges import checked_charge
from tinct.ledger.composition import rule_of
from tinct.ledger.store import NotCommitted
from tinct.ledger.totals import Usage

PROCESSES = 8
COST = "1/10"
MARK = "tinct-harness-"  # the shim looks only at files in folders with this in their name
MANY = 200  # entries after which a new ledger is begun, so that judging stays quick
REFUSED = (FileError, NotAnswered, NotCommitted)  # the last is internal, and only the wrong orders let it out

SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

/* The n-th call on a marked file fails (once, or from then on), or kills the process; with keep, every successful
   sync leaves a copy of the file as a disk without a cache would hold it. */
static long countdown = 0, calls = 0, fired = 0;
static int failure = 0, sticky = 0, deadly = 0, keep = 0, busy = 0;

void harness_arm(long n, int code, int stays, int kills) {
  countdown = n; failure = code; sticky = stays; deadly = kills; calls = 0; fired = 0;
}
void harness_keep(int on) { keep = on; }
long harness_calls(void) { return calls; }
long harness_fired(void) { return fired; }

static int path_of(int fd, char *path) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t n = readlink(link, path, PATH_MAX - 1);
  if (n < 0) return 0;
  path[n] = 0;
  return strstr(path, "tinct-harness-") != NULL && strstr(path, ".db") != NULL;
}

static int fails(int fd) {
  char path[PATH_MAX];
  if (busy || !path_of(fd, path)) return 0;
  calls++;
  if (!countdown || calls < countdown || (calls > countdown && !sticky)) return 0;
  fired++;
  if (deadly) kill(getpid(), SIGKILL);
  errno = failure;
  return 1;
}

static void copy_synced(int fd) {
  char path[PATH_MAX], copy[PATH_MAX + 16], buffer[65536];
  if (!keep || busy || !path_of(fd, path)) return;
  busy = 1;
  snprintf(copy, sizeof copy, "%s.durable", path);
  int from = open(path, O_RDONLY), to = open(copy, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ssize_t n;
  while ((n = read(from, buffer, sizeof buffer)) > 0)
    if (write(to, buffer, n) != n) kill(getpid(), SIGABRT);
  close(from); close(to);
  busy = 0;
}

#define REAL(name) static __typeof__(name) *real = NULL; if (!real) real = dlsym(RTLD_NEXT, #name)
ssize_t write(int fd, const void *b, size_t n) { REAL(write); return fails(fd) ? -1 : real(fd, b, n); }
ssize_t pwrite(int fd, const void *b, size_t n, off_t o) { REAL(pwrite); return fails(fd) ? -1 : real(fd, b, n, o); }
ssize_t pwrite64(int fd, const void *b, size_t n, off64_t o) {
  REAL(pwrite64); return fails(fd) ? -1 : real(fd, b, n, o);
}
int ftruncate(int fd, off_t n) { REAL(ftruncate); return fails(fd) ? -1 : real(fd, n); }
int ftruncate64(int fd, off64_t n) { REAL(ftruncate64); return fails(fd) ? -1 : real(fd, n); }
int fsync(int fd) { REAL(fsync); if (fails(fd)) return -1; int r = real(fd); if (!r) copy_synced(fd); return r; }
int fdatasync(int fd) {
  REAL(fdatasync); if (fails(fd)) return -1; int r = real(fd); if (!r) copy_synced(fd); return r;
}
int unlink(const char *path) {
  REAL(unlink);
  char copy[PATH_MAX + 16];
  if (keep && strstr(path, "tinct-harness-")) { snprintf(copy, sizeof copy, "%s.durable", path); real(copy); }
  return real(path);
}
"""


@dataclass
class Report:
    """What an attack found. The middle four must be 0."""

    rounds: int = 0
    shown: int = 0
    unrecorded: int = 0
    uncharged: int = 0  # drawn, and no charge stands in the ledger
    overgrants: int = 0
    damaged: int = 0
    resumed: int = 0  # charged, interrupted, and completed by a retry
    hits: int = 0  # faults that struck, or processes that were killed while they worked
    wrong_totals: int = 0  # races that granted something else than the whole budget
    notes: list[str] = field(default_factory=list)

    @property
    def clean(self) -> bool:
        """Whether nothing that must not happen has happened."""
        return not (self.unrecorded or self.uncharged or self.overgrants or self.damaged or self.wrong_totals)


# judging


Recorded = dict[str, tuple[str | None, Fraction]]


def recorded(path: Path) -> Recorded:
    """Request, answer (None while there is none) and cost of every entry, read without the library."""
    statement = "SELECT request, answer, epsilon FROM tinct_entries LEFT JOIN tinct_answers USING (number)"
    connection = sqlite3.connect(path)
    with contextlib.closing(connection):
        rows = connection.execute(statement).fetchall()
    return {request: (answer and json.loads(answer), Fraction(epsilon)) for request, answer, epsilon in rows}


def judge(report: Report, path: Path, seen: Seen, budget: Fraction) -> Recorded:
    """Compare what was drawn and shown with what is recorded, and what is recorded with the budget."""
    shown = seen.shown
    report.shown += len(shown)
    found: Recorded = {}
    try:
        found = recorded(path)
        Ledger(path).audit()
    except (FileError, sqlite3.Error) as error:
        report.damaged += 1
        report.notes.append(str(error))
    free = seen.drawn - set(found)
    report.uncharged += len(free)
    report.notes.extend(f"{request} was drawn and is not charged" for request in free)
    lost = [request for request, answer in shown.items() if found.get(request, (None,))[0] != answer]
    report.unrecorded += len(lost)
    report.notes.extend(f"{request} was shown and is not recorded" for request in lost)
    report.overgrants += sum(cost for _, cost in found.values()) > budget
    return found


def judge_server(report: Report, ledger: Ledger, seen: Seen, budget: Fraction) -> Recorded:
    """The same for a ledger on a server."""
    shown = seen.shown
    report.shown += len(shown)
    found = {entry.request: (entry.answer, entry.epsilon) for entry in ledger.history()}
    report.uncharged += len(seen.drawn - set(found))
    report.unrecorded += sum(found.get(request, (None,))[0] != answer for request, answer in shown.items())
    report.overgrants += sum(cost for _, cost in found.values()) > budget
    try:
        ledger.audit()
    except FileError as error:
        report.damaged += 1
        report.notes.append(str(error))
    return found


def folder() -> Path:
    """A folder of the kind that the shim looks at: in memory, where syncing is quick, or for evidence on a disk."""
    memory = Path("/dev/shm")  # noqa: S108
    in_memory = os.environ.get("TINCT_EVIDENCE") != "1" and memory.is_dir() and os.access(memory, os.W_OK)
    return Path(tempfile.mkdtemp(prefix=MARK, dir=memory if in_memory else None))


# working: a process that charges, and shows what it is given


def draw() -> str:
    """An answer that nobody can guess."""
    return os.urandom(8).hex()


@dataclass
class Seen:
    """What was drawn and what was shown, as somebody outside of the process knows it."""

    drawn: set[str] = field(default_factory=set)
    shown: dict[str, str] = field(default_factory=dict)

    def draw(self, request: str) -> str:
        """Draw, and remember for which request."""
        self.drawn.add(request)
        return draw()

    def show(self, request: str, answer: str) -> None:
        """Show an answer."""
        self.shown[request] = answer


class Piped:
    """The same through a pipe, which survives the death of the process: one atomic write each."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def draw(self, request: str) -> str:
        """Say that it is being drawn, and draw."""
        os.write(self._descriptor, f"drawn {request} -\n".encode())
        return draw()

    def show(self, request: str, answer: str) -> None:
        """Show an answer."""
        os.write(self._descriptor, f"shown {request} {answer}\n".encode())


def work(ledger: Ledger, charge, seen, requests) -> None:
    """Charge under each request id and show the answers, until the budget is spent."""
    with contextlib.suppress(BudgetExceeded):
        for request in requests:
            with contextlib.suppress(*REFUSED):
                charge(ledger, request, seen)


def worker(ledger: Ledger, charge, descriptor: int, requests, prepare=None) -> int:
    """A child process that works, shows what it gets through a pipe, and ends without cleaning up after its parent."""
    child = os.fork()
    if not child:
        try:
            if prepare:
                prepare()
            work(ledger, charge, Piped(descriptor), requests)
        finally:
            os._exit(0)
    return child


def wait_at(gate: int, opener: int) -> None:
    """Wait until every process is there: until all of them and the parent have closed their ends."""
    os.close(opener)
    os.read(gate, 1)


def seen_on(descriptor: int) -> Seen:
    """What came through the pipe; a line without an end was not shown in full."""
    with os.fdopen(descriptor, "r") as pipe:
        lines = [line.split() for line in pipe.read().split("\n")[:-1]]
    drawn = {request for what, request, _ in lines if what == "drawn"}
    return Seen(drawn, {request: answer for what, request, answer in lines if what == "shown"})


def retried(report: Report, ledger: Ledger, found: Recorded, shown: dict[str, str]) -> None:
    """Ask again for everything: what was stored comes back, and what was charged and interrupted is completed."""
    if report.damaged:  # a wrong order: there is nothing to be asked
        return
    spent = ledger.spent()
    for request, (stored, _) in found.items():
        again = ledger.charge(draw, epsilon=COST, request=request).answer
        if again != shown.get(request, stored or again):
            report.unrecorded += 1
            report.notes.append(f"a retry of {request} drew again")
        report.resumed += stored is None
    report.uncharged += ledger.spent() != spent  # a retry is free


# attacks


def race(count: int, charge, *, seed: int = 1, grants: int = 12, place=None) -> Report:
    """Eight processes want more than there is, all at once: what they are granted must be the budget exactly."""
    report = Report()
    budget = grants * Fraction(COST)
    for number in range(count):
        home = folder()
        ledger = Ledger(place(number) if place else home / "race.db", budget)
        reader, writer = os.pipe()
        gate, opener = os.pipe()

        prepare = functools.partial(wait_at, gate, opener)
        requests = [[f"{seed}-{index}-{turn}" for turn in range(grants + 1)] for index in range(PROCESSES)]
        children = [worker(ledger, charge, writer, mine, prepare) for mine in requests]
        for descriptor in (gate, opener, writer):
            os.close(descriptor)
        seen = seen_on(reader)
        for child in children:
            os.waitpid(child, 0)
        report.rounds += 1
        if place:
            judge_server(report, ledger, seen, budget)
        else:
            judge(report, home / "race.db", seen, budget)
        report.wrong_totals += len(seen.shown) != grants
        shutil.rmtree(home)
    return report


def kills(count: int, charge, *, seed: int = 1, shim: ctypes.CDLL | None = None) -> Report:
    """A process is killed at a random moment, or (with the shim) at a random call that touches the disk.

    Rounds in which it was done before do not count.
    """
    dice = random.Random(seed)
    report = Report()
    budget = 1000 * Fraction(COST)
    home, path, ledger = _fresh(budget)
    while report.hits < count:
        number = report.rounds
        reader, writer = os.pipe()
        by_call = shim is not None and number % 2 == 1
        prepare = functools.partial(shim.harness_arm, dice.randint(1, 60), 0, 0, 1) if by_call else None
        child = worker(ledger, charge, writer, [f"{number}-{turn}" for turn in range(8)], prepare)
        os.close(writer)
        if not by_call:
            time.sleep(dice.uniform(0, 0.12))
            os.kill(child, signal.SIGKILL)
        seen = seen_on(reader)
        report.hits += os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
        report.rounds += 1
        found = judge(report, path, seen, budget)
        fresh = {request: known for request, known in found.items() if request.startswith(f"{number}-")}
        retried(report, ledger, fresh, seen.shown)
        if len(found) > MANY:
            shutil.rmtree(home)
            home, path, ledger = _fresh(budget)
    shutil.rmtree(home)
    return report


def power_cuts(count: int, charge, shim: ctypes.CDLL, *, seed: int = 1) -> Report:
    """A process is killed, and with it everything that was written but not synced is lost."""
    dice = random.Random(seed)
    report = Report()
    budget = 1000 * Fraction(COST)
    for number in range(count):
        home = folder()
        path = home / "cut.db"
        shim.harness_keep(1)
        ledger = Ledger(path, budget)
        reader, writer = os.pipe()
        prepare = functools.partial(shim.harness_arm, dice.randint(8, 80), 0, 0, 1)
        child = worker(ledger, charge, writer, [f"{number}-{turn}" for turn in range(8)], prepare)
        os.close(writer)
        seen = seen_on(reader)
        report.hits += os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
        shim.harness_keep(0)
        for name in ("cut.db", "cut.db-wal", "cut.db-shm"):
            durable = home / f"{name}.durable"
            if durable.exists():
                durable.replace(home / name)
            else:
                (home / name).unlink(missing_ok=True)
        report.rounds += 1
        retried(report, ledger, judge(report, path, seen, budget), seen.shown)
        shutil.rmtree(home)
    return report


def disk_faults(count: int, charge, shim: ctypes.CDLL, *, seed: int = 1) -> Report:
    """The n-th call that writes, syncs or truncates fails, once or from then on, until ``count`` faults have struck."""
    dice = random.Random(seed)
    report = Report()
    budget = 1000 * Fraction(COST)
    home, path, ledger = _fresh(budget)
    while report.hits < count:
        request, seen = f"fault-{report.rounds}", Seen()
        code = dice.choice((errno.EIO, errno.ENOSPC, errno.EDQUOT))
        shim.harness_arm(dice.randint(1, 48), code, dice.random() < 0.5, 0)
        with contextlib.suppress(*REFUSED):
            charge(ledger, request, seen)
        report.hits += shim.harness_fired() > 0
        shim.harness_arm(0, 0, 0, 0)
        report.rounds += 1
        found = judge(report, path, seen, budget)
        retried(report, ledger, {request: found[request]} if request in found else {}, seen.shown)
        if len(found) > MANY:
            shutil.rmtree(home)
            home, path, ledger = _fresh(budget)
    shutil.rmtree(home)
    return report


def statement_faults(count: int, charge, *, seed: int = 1) -> Report:
    """The n-th statement fails before it runs, or after it ran without anybody knowing."""
    dice = random.Random(seed)
    report = Report()
    budget = 1000 * Fraction(COST)
    home, path, ledger = _fresh(budget)
    while report.hits < count:
        request, seen = f"statement-{report.rounds}", Seen()
        at, commit = dice.choice(((dice.randint(1, 60), 0), (0, 1), (0, 2)))
        plan = Fault(at, dice.random() < 0.5, dice.choice(("IOERR_FSYNC", "FULL", "BUSY", "CORRUPT")), commit=commit)
        connect = functools.partial(sqlite3.connect, factory=functools.partial(FaultyConnection, plan))
        with mock.patch.object(sqlite.sqlite3, "connect", connect), contextlib.suppress(*REFUSED):
            charge(ledger, request, seen)
        report.hits += plan.fired
        report.rounds += 1
        found = judge(report, path, seen, budget)
        retried(report, ledger, {request: found[request]} if request in found else {}, seen.shown)
        if len(found) > MANY:
            shutil.rmtree(home)
            home, path, ledger = _fresh(budget)
    shutil.rmtree(home)
    return report


def _fresh(budget: Fraction) -> tuple[Path, Path, Ledger]:
    home = folder()
    return home, home / "fault.db", Ledger(home / "fault.db", budget)


@dataclass
class Fault:
    """Which statement fails, or which commit; whether it ran all the same; and what SQLite calls it."""

    at: int
    after: bool
    kind: str
    commit: int = 0  # the charge is the first commit, the answer the second
    calls: int = 0
    commits: int = 0
    fired: bool = False

    def strikes(self, statement: str) -> bool:
        """Whether this statement is the one."""
        self.calls += 1
        self.commits += statement == "COMMIT"
        now = self.calls == self.at or (statement == "COMMIT" and self.commits == self.commit)
        self.fired = self.fired or now
        return now


class FaultyConnection(sqlite3.Connection):
    """A connection whose n-th statement fails."""

    def __init__(self, plan: Fault, *arguments, **options) -> None:
        super().__init__(*arguments, **options)
        self._plan = plan

    def execute(self, statement, *values):
        """Run a statement, unless it is the one to fail."""
        strikes = self._plan.strikes(statement)
        cursor = super().execute(statement, *values) if not strikes or self._plan.after else None
        if strikes:
            error = sqlite3.OperationalError("injected")
            error.sqlite_errorname = f"SQLITE_{self._plan.kind}"
            raise error
        return cursor


# orders of operations: the right one, and wrong ones that the attacks must notice


def right(ledger: Ledger, request: str, seen) -> None:
    """Charge, draw, store, show."""
    drawn = functools.partial(seen.draw, request)
    seen.show(request, ledger.charge(drawn, epsilon=COST, request=request).answer)


def show_first(ledger: Ledger, request: str, seen) -> None:
    """Wrong: the answer is shown before it is stored."""
    entry = ledger.grant(epsilon=COST, request=request)

    def drawn() -> str:
        answer = seen.draw(request)
        seen.show(request, answer)
        return answer

    ledger.answer(entry, drawn)


def draw_first(ledger: Ledger, request: str, seen) -> None:
    """Wrong: the answer is drawn before it is charged, so that whoever fails to commit draws for free."""
    answer = seen.draw(request)
    seen.show(request, ledger.charge(lambda: answer, epsilon=COST, request=request).answer)


def check_outside(ledger: Ledger, request: str, seen) -> None:
    """Wrong: the budget is checked in one transaction and spent in another."""
    charge = _charge(request)
    with ledger._reading() as session:
        scope = ledger._scope(session, "default")
        ledger._checked(Usage.read(session, scope), rule_of(scope), scope, charge, COST)
    with ledger._writing() as session:
        cost = rule_of(scope).costs(charge.epsilon, charge.delta, charge.points)[0]
        entry = Usage.read(session, scope).plus(cost).record(session, charge)
    seen.show(request, ledger.answer(entry, functools.partial(seen.draw, request)).answer)


def separate_records(ledger: Ledger, request: str, seen) -> None:
    """Wrong: the total is committed first and the entry afterwards."""
    charge = _charge(request)
    with ledger._writing() as session:
        scope = ledger._scope(session, "default")
        cost = rule_of(scope).costs(charge.epsilon, charge.delta, charge.points)[0]
        after = ledger._checked(Usage.read(session, scope), rule_of(scope), scope, charge, COST)
        number = stored_rows.entry_count(session) + 1
        stored_rows.write_totals(session, [stored_rows.total_row(scope.name, "", "", after.peaks[""])], number)
    with ledger._writing() as session:
        stored_rows.write_entry(session, stored_rows.entry_row(number, charge, cost))
    entry = ledger.find(request)
    seen.show(request, ledger.answer(entry, functools.partial(seen.draw, request)).answer)


def draw_again(ledger: Ledger, request: str, seen) -> None:
    """Wrong: a request is looked up only when its answer is stored, so that two may be shown."""
    entry = ledger.grant(epsilon=COST, request=request)
    answer = seen.draw(request)
    with contextlib.suppress(*REFUSED):
        ledger.answer(entry, lambda: answer)
    seen.show(request, answer)


def no_sync(ledger: Ledger, request: str, seen) -> None:
    """Wrong: the right order, but nothing waits for the disk."""
    with mock.patch.object(sqlite, "_SETTINGS", ("synchronous = OFF",)):
        right(ledger, request, seen)


def _charge(request: str):
    return checked_charge(COST, 0, request, "", None, "default", None, None, None, None)


ORDERS = {
    order.__name__: order
    for order in (right, show_first, draw_first, draw_again, check_outside, separate_records, no_sync)
}


# the shim


def compiler() -> str | None:
    """The C compiler, if there is one."""
    return shutil.which("cc") or shutil.which("gcc") if sys.platform == "linux" else None


def build_shim(target: Path) -> Path:
    """Compile the shim."""
    source, library = target / "shim.c", target / "shim.so"
    source.write_text(SHIM)
    subprocess.run([compiler(), "-shared", "-fPIC", "-O1", "-w", "-o", library, source, "-ldl"], check=True)
    return library


def loaded_shim() -> ctypes.CDLL | None:
    """The shim, if this process was started with it."""
    if "shim.so" not in os.environ.get("LD_PRELOAD", ""):
        return None
    shim = ctypes.CDLL(None)
    shim.harness_arm.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_int, ctypes.c_int]
    shim.harness_fired.restype = shim.harness_calls.restype = ctypes.c_long
    return shim


def attack(kind: str, count: int, order: str = "right", *, seed: int = 1, library: Path | None = None) -> Report:
    """Run an attack in a process of its own, with the shim if there is a library."""
    environment = {**os.environ, **({"LD_PRELOAD": str(library)} if library else {})}
    line = [sys.executable, __file__, kind, "--count", str(count), "--order", order, "--seed", str(seed)]
    done = subprocess.run(line, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return Report(**json.loads(done.stdout))


# PostgreSQL


class Server:
    """A PostgreSQL server of our own, in a temporary folder, with a password."""

    PASSWORD = "canary%2Fsecret"  # noqa: S105 # percent-encoded: canary/secret

    def __init__(self) -> None:
        self.home = Path(tempfile.mkdtemp(prefix="tinct-postgres-"))
        self.user = None if os.getuid() else "postgres"  # the server refuses to run as root
        self.port = self._free_port()

    @staticmethod
    def programs() -> Path | None:
        """Where the server's programs are."""
        places = [*sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)]
        found = shutil.which("initdb")
        places += [Path(found).parent] if found else []
        return next((place for place in places if (place / "initdb").exists() and (place / "pg_ctl").exists()), None)

    @staticmethod
    def _free_port() -> int:
        """A port below those that the system gives to clients, one of which might take it while the server is down."""
        start = 20_000 + os.getpid() % 10_000
        for port in range(start, start + 200):
            with socket.socket() as free, contextlib.suppress(OSError):
                free.bind(("127.0.0.1", port))
                return port
        raise RuntimeError("no free port")

    def __enter__(self) -> Server:
        secret = self.home / "password"
        secret.write_text("canary/secret")
        if self.user:
            for path in (self.home, secret):
                shutil.chown(path, self.user)
        login = ["--username=owner", "--auth=scram-sha-256", f"--pwfile={secret}"]
        self._run("initdb", "-D", self.home / "data", "--encoding=UTF8", "--no-locale", *login)
        self.start()
        return self

    def __exit__(self, *exception) -> None:
        self.stop("immediate")
        shutil.rmtree(self.home, ignore_errors=True)

    def start(self, *options: str) -> None:
        """Start the server and wait until it answers."""
        words = " ".join([f"-p {self.port}", "-c listen_addresses=127.0.0.1", f"-k {self.home}", *options])
        self._run("pg_ctl", "-D", self.home / "data", "-l", self.home / "log", "-o", words, "-w", "start")

    def stop(self, mode: str = "fast") -> None:
        """Stop the server; "immediate" is a crash."""
        self._run("pg_ctl", "-D", self.home / "data", "-m", mode, "-w", "stop")

    def url(self, database: str = "postgres", password: str | None = None) -> str:
        """The URL of a database."""
        return f"postgresql://owner:{password or self.PASSWORD}@127.0.0.1:{self.port}/{database}"

    def run(self, statement: str, database: str = "postgres") -> None:
        """Run a statement outside of any transaction."""
        import psycopg

        with psycopg.connect(self.url(database), autocommit=True) as connection:
            connection.execute(statement)

    def _run(self, program: str, *arguments) -> None:
        line = [self.programs() / program, *arguments]
        identity = {"user": self.user, "group": self.user, "extra_groups": []} if self.user else {}
        with open(self.home / "output", "ab") as output:  # a pipe would be held open by the server
            done = subprocess.run(line, check=False, cwd="/", stdout=output, stderr=output, **identity)
        if done.returncode:
            texts = [path.read_text(errors="replace")[-2000:] for path in self.home.glob("[lo]*") if path.is_file()]
            raise RuntimeError(f"{program} ended with {done.returncode}:\n" + "\n".join(texts))


def server_crashes(count: int, server: Server, *, seed: int = 1) -> Report:
    """The server crashes at random moments while four clients charge, and recovers; what was cut short is completed."""
    dice = random.Random(seed)
    report = Report()
    budget = 1000 * Fraction(COST)
    ledger = Ledger(server.url(), budget, timeout=5)
    for number in range(count):
        reader, writer = os.pipe()
        requests = [[f"{number}-{index}-{turn}" for turn in range(40)] for index in range(4)]
        children = [worker(ledger, right, writer, mine) for mine in requests]
        os.close(writer)
        select.select([reader], [], [], 60)  # until the first of them draws
        time.sleep(dice.uniform(0.1, 0.6))
        server.stop("immediate")
        for child in children:  # they are still trying: what they could not charge they have not shown
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        seen = seen_on(reader)
        server.start()
        report.rounds += 1
        found = judge_server(report, ledger, seen, budget)
        ours = {request: known for request, known in found.items() if request.startswith(f"{number}-")}
        cut_short = [request for request, (answer, _) in ours.items() if answer is None]
        chosen = [*cut_short, *list(seen.shown)[-5:]]
        retried(report, ledger, {request: ours[request] for request in chosen}, seen.shown)
    return report


def main() -> None:
    """Run one attack and print its report as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=("races", "kills", "power_cuts", "disk_faults", "statement_faults"))
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--order", choices=ORDERS, default="right")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    order, shim = ORDERS[options.order], loaded_shim()
    attacks = {
        "races": lambda: race(options.count, order, seed=options.seed),
        "kills": lambda: kills(options.count, order, seed=options.seed, shim=shim),
        "power_cuts": lambda: power_cuts(options.count, order, shim, seed=options.seed),
        "disk_faults": lambda: disk_faults(options.count, order, shim, seed=options.seed),
        "statement_faults": lambda: statement_faults(options.count, order, seed=options.seed),
    }
    json.dump(asdict(attacks[options.kind]()), sys.stdout)


if __name__ == "__main__":
    main()
