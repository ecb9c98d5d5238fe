"""Who can read the files of a ledger: an answer that was drawn and could not be stored must be seen by nobody."""

from __future__ import annotations

import contextlib
import functools
import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
from unittest import mock

import pytest

import ledger_harness as harness
from tinct.errors import FileError, NotAnswered
from tinct.ledger import Ledger, sqlite

DRAWN = "drawn and never shown"


@pytest.fixture
def path():
    home = harness.folder()
    home.chmod(0o755)  # others may enter, so that only the modes of the files keep them out
    yield home / "budget.db"
    shutil.rmtree(home)


@contextlib.contextmanager
def idle(path):
    """A connection that does nothing, so that the log stays where it is."""
    with contextlib.closing(sqlite3.connect(path)) as reader:
        reader.execute("SELECT count(*) FROM tinct_entries").fetchone()
        yield reader


@contextlib.contextmanager
def reading(path):
    """A reader in the middle of something, because of which the log can be neither removed nor cut."""
    with idle(path) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM tinct_entries").fetchone()
        yield


def files(path):
    """The files of a ledger that are there, with their modes."""
    return {file.name: file.stat().st_mode & 0o7777 for file in sorted(path.parent.glob(f"{path.name}*"))}


def modes(mode):
    return {f"budget.db{ending}": mode for ending in ("", "-shm", "-wal")}


def in_child(work):
    """What the work says in a process of its own."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.write(writer, str(work()).encode())
        except BaseException as error:  # the parent looks at it
            os.write(writer, f"{type(error).__name__}: {error}".encode())
        finally:
            os._exit(0)
    os.close(writer)
    os.waitpid(child, 0)
    with os.fdopen(reader) as pipe:
        return pipe.read()


def short_of_disk(ledger, entry, limit):
    """Answer with a file-size limit, so that the commit fails while it writes the log."""

    def work():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        return ledger.answer(entry, lambda: DRAWN).answer

    return in_child(work)


def as_nobody(file):
    """What somebody else gets who opens a file; root may read everything, so it becomes nobody first."""

    def work():
        if not os.getuid():
            os.setgid(65534)
            os.setuid(65534)
        return file.read_bytes()

    return in_child(work)


@pytest.mark.parametrize("umask", [0, 0o022, 0o077, 0o777])
def test_the_files_of_a_ledger_are_for_its_owner_alone(path, umask):
    """Whatever the umask: the file from its first byte on, and the logs with it."""
    before = os.umask(umask)
    try:
        ledger = Ledger(path, 1)
        assert files(path) == {"budget.db": 0o600}
        with idle(path):
            ledger.charge(lambda: 1, epsilon="0.1")
            assert files(path) == modes(0o600)
    finally:
        os.umask(before)


def test_what_was_drawn_and_not_stored_is_read_by_nobody(path):
    """A commit that fails one byte short leaves the answer in the log: there it is, and nobody else can read it."""
    public, log = path.with_name("public.txt"), path.with_name("budget.db-wal")
    public.write_text("public")
    limit = _size_of_the_log(path.with_name("twin.db")) - 1
    ledger = Ledger(path, 1)
    with reading(path):
        entry = ledger.grant(epsilon="0.1", request="r")
        for _ in range(3):
            assert "NotAnswered" in short_of_disk(ledger, entry, limit)
            assert log.read_bytes().count(DRAWN.encode()) == 1  # and not of the attempts before
            assert files(path) == modes(0o600)
            assert as_nobody(public) == "b'public'"
            assert "PermissionError" in as_nobody(log) or os.getuid()
        assert ledger.answer(entry, lambda: "shown").answer == "shown"
        assert DRAWN.encode() not in log.read_bytes()
    assert len(ledger.history()) == 1


def _size_of_the_log(path):
    ledger = Ledger(path, 1)
    with reading(path):
        ledger.charge(lambda: DRAWN, epsilon="0.1", request="r")
        return path.with_name(f"{path.name}-wal").stat().st_size


def test_a_failed_commit_leaves_nothing_in_the_log(path):
    """What a large answer wrote to the log before its commit failed is cut off."""
    ledger = Ledger(path, 1)
    entry = ledger.grant(epsilon="0.1", request="r", room=2**23)
    plan = harness.Fault(0, False, "IOERR_WRITE", commit=1)
    connect = functools.partial(sqlite3.connect, factory=functools.partial(harness.FaultyConnection, plan))
    log, seen = path.with_name("budget.db-wal"), []
    with idle(path):
        roll_back = sqlite._roll_back
        with (
            mock.patch.object(sqlite.sqlite3, "connect", connect),
            mock.patch.object(sqlite, "_roll_back", lambda each: (seen.append(log.stat().st_size), roll_back(each))),
            pytest.raises(NotAnswered),
        ):
            ledger.answer(entry, lambda: DRAWN * 10_000)
        assert max(seen) > 2**22  # it was there
        assert log.stat().st_size == 0
    assert ledger.answer(entry, lambda: "again").answer == "again"


@pytest.mark.parametrize(
    ("mode", "kept"),
    [(0o644, 0o600), (0o640, 0o600), (0o604, 0o600), (0o620, 0o600), (0o755, 0o600), (0o666, 0o660), (0o660, 0o660)],
)
def test_whoever_cannot_write_a_ledger_cannot_read_it_after_the_next_charge(path, mode, kept):
    """Ledgers of older versions are closed to readers; a group that can read and write runs the ledger together."""
    ledger = Ledger(path, 1)
    path.chmod(mode)
    with idle(path):
        assert set(files(path).values()) == {mode}  # as older versions left them
    ledger.charge(lambda: 1, epsilon="0.1")
    assert files(path) == {"budget.db": kept}
    with idle(path):
        ledger.charge(lambda: 1, epsilon="0.1")
        assert files(path) == modes(kept)


def test_a_log_that_others_have_opened_is_replaced_before_a_charge(path):
    """A descriptor outlives the rights of its file: what is written after the files are closed goes to a new log."""
    ledger = Ledger(path, 1)
    log = path.with_name("budget.db-wal")
    with idle(path):
        ledger.charge(lambda: 1, epsilon="0.1")
        left = log.read_bytes()
    log.write_bytes(left)  # as a crash of an older version leaves it
    log.chmod(0o644)
    with log.open("rb") as opened:
        with idle(path):  # while others use the old log, it cannot be replaced, and nothing is charged
            with pytest.raises(FileError, match="another process has it locked"):
                Ledger(path, timeout=0.1).charge(lambda: DRAWN, epsilon="0.1")
            assert len(ledger.history()) == 1
            log.with_name("copy").write_bytes(left)
        log.with_name("copy").replace(log)
        log.chmod(0o644)
        with log.open("rb") as again:
            assert ledger.charge(lambda: DRAWN, epsilon="0.1").answer == DRAWN
            assert DRAWN.encode() not in opened.read() + again.read()
    assert len(ledger.history()) == 2


def test_files_that_we_cannot_close_are_refused_before_the_charge(path, monkeypatch):
    """A ledger that others can read, and that is not ours: nothing is charged or drawn, and the error says why."""
    ledger = Ledger(path, 1)
    path.chmod(0o644)
    drawn = []
    with monkeypatch.context() as patched:
        patched.setattr(sqlite.os, "chmod", mock.Mock(side_effect=PermissionError))
        with pytest.raises(FileError, match=r"others can read this file.*its owner can, with chmod 600"):
            ledger.charge(lambda: drawn.append(1), epsilon="0.1")
        assert ledger.history() == []  # reading is another matter
    assert not drawn
    ledger.charge(lambda: 1, epsilon="0.1")


def test_a_log_with_another_group_is_refused(path, monkeypatch):
    """SQLite gives a log the mode of its ledger, but the group of whoever is first, if the folder hands on none."""
    ledger = Ledger(path, 1)
    path.chmod(0o660)
    look = os.stat

    def with_other_group(place, **options):
        found = look(place, **options)
        if not str(place).endswith("-wal"):
            return found
        return os.stat_result((*found[:5], found.st_gid + 1, *found[6:10]))

    with monkeypatch.context() as patched:
        patched.setattr(sqlite.os, "stat", with_other_group)
        with pytest.raises(FileError, match=r"others can read its log budget\.db-wal.*chmod g\+s"):
            ledger.charge(harness.draw, epsilon="0.1")
    assert ledger.history() == []


def test_to_look_at_a_ledger_ends_no_lock_of_another_thread(path):
    """Closing any descriptor of a file ends all locks of the process on it, and others then remove the log in use.

    While one thread charges and another opens the ledger, another process opens and leaves it; a second one must still
    find it locked. Otherwise both charge the same remainder, and one of the two charges is lost.
    """
    ledger = Ledger(path, 1)
    look = "import sys; from tinct import Ledger; Ledger(sys.argv[1]).history()"
    charge = "import sys; from tinct import Ledger; Ledger(sys.argv[1], timeout=0.1).charge(lambda: 1, epsilon=1)"
    granted, failures = Ledger._granted, []

    def others():
        Ledger(path).history()
        for program in (look, charge):
            done = subprocess.run([sys.executable, "-c", program, path], capture_output=True, text=True, check=False)
            failures.append(done.stderr)

    def interrupted(self, *arguments):
        entry = granted(self, *arguments)
        thread = threading.Thread(target=others)
        thread.start()
        thread.join()
        return entry

    with mock.patch.object(Ledger, "_granted", interrupted):
        ledger.charge(lambda: 1, epsilon=1)
    assert failures[0] == ""
    assert "another process has it locked" in failures[1]
    assert ledger.audit() == 1
