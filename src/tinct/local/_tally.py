"""tally: reports counted as they arrive, and counts of different days and places added up."""

from __future__ import annotations

import json
import os
from collections import Counter
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from tinct._files import json_text, read_text, reading, strict_json, suffix_of, write_atomically
from tinct._files._strict_json import require_fields, require_schema, require_whole
from tinct.errors import FileError, Parameter, ParameterError
from tinct.exact import sampler
from tinct.local import report_files
from tinct.local.local_mechanism import LocalMechanism
from tinct.local.mechanisms.base import PlainRandomiser, filled_list, whole_text
from tinct.local.report_files import ReportsOf

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tinct._files import FilePath
    from tinct.local._estimate import Estimate
    from tinct.local.hypothesis_testing import TestResult
    from tinct.local.parameters import DistributionLike, Integers
    from tinct.local.report_files import Bad

SCHEMA = "tinct/local-counts@1"
MOST_REJECTED = 0.05
_MOST_PEOPLE = 2**53
_MOST_NAMES = 1000


@dataclass(frozen=True, eq=False)
class Tally:
    """Counted reports of one mechanism. Tallies of the same mechanism can be added; none is added twice.

    Attributes:
        mechanism: What the people's answers were randomised with.
        counts: How often each output was reported; for reports with several parts, how many speak for each symbol.
        reports: How many reports were counted.
        rejected: How many rows were set aside because they hold no report of this mechanism, by reason.
        others: How many rows name another mechanism, by its id; they are neither counted nor bad.
        parts: The names of the tallies that are in this one.
    """

    mechanism: LocalMechanism
    counts: Integers
    reports: int
    rejected: Counter[str] = field(default_factory=Counter)
    others: Counter[str] = field(default_factory=Counter)
    parts: frozenset[str] = field(default_factory=lambda: frozenset([sampler.token()]))

    @property
    def support(self) -> Integers:
        """For each symbol the number of reports that speak for it."""
        randomiser = self.mechanism.randomiser
        return randomiser.support_of(self.counts) if isinstance(randomiser, PlainRandomiser) else self.counts

    def estimate(self, confidence: float = 0.95) -> Estimate:
        """Frequencies of the symbols, with intervals that hold all at once with this confidence."""
        from tinct.local._estimate import estimate_from, require_estimable

        require_estimable(self.mechanism)
        return estimate_from(self.mechanism, self.support, self.reports, confidence)

    def test(self, p0: DistributionLike | None = None, p1: DistributionLike | None = None) -> TestResult:
        """The likelihood-ratio test of P0 against P1, those the mechanism was designed for if none are given."""
        from tinct.local.hypothesis_testing import result_from, testable

        testable(self.mechanism)
        return result_from(self.mechanism, self.counts, p0, p1)

    def __add__(self, other: Tally) -> Tally:
        if not isinstance(other, Tally):
            return NotImplemented
        if self.mechanism.id != other.mechanism.id:
            raise ParameterError(
                f"these are counts of two mechanisms, {self.mechanism.id} and {other.mechanism.id}: estimate each of "
                "them by itself"
            )
        if self.parts & other.parts:
            raise ParameterError("some of these reports are in both counts: they would be counted twice")
        return Tally(
            self.mechanism,
            self.counts + other.counts,
            self.reports + other.reports,
            self.rejected + other.rejected,
            self.others + other.others,
            self.parts | other.parts,
        )

    def to_json(self, path: FilePath) -> None:
        """Write the counts (docs/files.md), to be added to others."""
        suffix_of(path, (".json",))
        fields = {
            "schema": SCHEMA,
            "mechanism": self.mechanism.id,
            "reports": self.reports,
            "counts": [str(count) for count in self.counts.tolist()],
            "rejected": dict(self.rejected),
            "others": dict(self.others),
            "parts": sorted(self.parts),
        }
        write_atomically(path, json_text(fields))

    @classmethod
    def from_json(cls, path: FilePath, mechanism: LocalMechanism) -> Tally:
        """Read counts that ``to_json`` wrote, of this mechanism."""
        suffix_of(path, (".json",))
        read = strict_json(read_text(path), path)
        require_schema(read, path, SCHEMA)
        names = ("schema", "mechanism", "reports", "counts", "rejected", "others", "parts")
        require_fields(read, path, "the counts", required=names)
        if read["mechanism"] != mechanism.id:
            raise FileError(f"these are counts of another mechanism, not of {mechanism.id}", path=path)
        with reading(path, "the counts"):
            counts = [whole_text(count, "counts") for count in filled_list(read["counts"], "counts")]
            parts = filled_list(read["parts"], "parts")
            if not all(isinstance(part, str) and 0 < len(part) <= 64 for part in parts):
                raise ParameterError("parts must be names")
            rejected, others = (_by_name(read[name], name, path) for name in ("rejected", "others"))
        people = require_whole(read["reports"], path, "reports")
        _require_possible(counts, people, mechanism, path)
        return cls(mechanism, np.array(counts, np.int64), people, rejected, others, frozenset(parts))

    def __repr__(self) -> str:
        return f"<Tally of {self.reports:,} reports of {self.mechanism.name} ({self.mechanism.id})>"


def tally(
    reports: Any,
    mechanism: LocalMechanism,
    *,
    column: str = "report",
    rejected: FilePath | None = None,
    most_rejected: float = MOST_REJECTED,
    kind: str | None = None,
    stream: BinaryIO | None = None,
    progress: Callable[[int], None] | None = None,
) -> Tally:
    """Count the reports in files, a block at a time; what is no report is set aside and never stops the rest.

    Args:
        reports: A path, a folder, a pattern such as ``"day-*.jsonl.gz"``, ``"-"`` for standard input, or a list of
            such: JSON lines, CSV, TSV (each also with .gz behind) and Parquet, and counts of before (.json).
        mechanism: What the answers were randomised with. Rows that name another one in a column ``mechanism`` are left
            for it.
        column: Where the report stands; one of several numbers may stand in ``report_0``, ``report_1``, … as well.
            Further columns are not looked at.
        rejected: A file (.jsonl) for the rows that are set aside: file, row, reason and content.
        most_rejected: The largest share of rows that may be set aside; with more there is no result.
        kind: How to read files whose names do not say it, and standard input: ``"jsonl"``, ``"csv.gz"``, ….
        stream: What to read as standard input, if it is not that.
        progress: Called with the number of reports so far.
    """
    if not isinstance(mechanism, LocalMechanism):
        raise ParameterError(f"mechanism must be a LocalMechanism, got {type(mechanism).__name__}")
    if isinstance(most_rejected, bool) or not isinstance(most_rejected, int | float) or not 0 <= most_rejected <= 1:
        raise ParameterError.of("most_rejected", "a number from 0 to 1", most_rejected)
    if not isinstance(column, str) or not column:
        raise ParameterError("column must be the name of a column")
    wanted = ReportsOf(mechanism.randomiser, mechanism.id, column)
    found = _Counting(mechanism)
    with _set_aside(rejected) as keep:
        for path in report_files.parts_of(reports):
            if kind is None and path.lower().endswith(".json"):
                found.add(Tally.from_json(path, mechanism))
                continue
            for batch in report_files.batches(path, wanted, kind, stream):
                found.take(batch)
                keep(batch.bad)
                if progress is not None:
                    progress(found.reports)
    whole = found.tally()
    _require_few_rejected(whole, most_rejected, rejected)
    return whole


class _Counting:
    """Counts that grow."""

    def __init__(self, mechanism: LocalMechanism) -> None:
        self.mechanism = mechanism
        randomiser = self._randomiser = mechanism.randomiser
        size = randomiser.outputs if isinstance(randomiser, PlainRandomiser) else randomiser.size
        self._counts = np.zeros(size, np.int64)
        self.reports = 0
        self._rejected: Counter[str] = Counter()
        self._others: Counter[str] = Counter()
        self._before: list[Tally] = []

    def take(self, batch: report_files.Batch) -> None:
        randomiser = self._randomiser
        if len(batch.rows):
            if isinstance(randomiser, PlainRandomiser):
                self._counts += np.bincount(batch.rows[:, 0], minlength=randomiser.outputs)
            else:
                self._counts += randomiser.support_of_rows(batch.rows)
        self.reports += len(batch.rows)
        self._rejected.update(bad.why for bad in batch.bad)
        self._others.update(batch.others)
        if len(self._others) > _MOST_NAMES:  # names that a row chooses: not all of them are kept
            most = Counter(dict(self._others.most_common(_MOST_NAMES // 2)))
            most["…"] += self._others.total() - most.total()
            self._others = most

    def add(self, before: Tally) -> None:
        self._before.append(before)

    def tally(self) -> Tally:
        whole = Tally(self.mechanism, self._counts, self.reports, self._rejected, self._others)
        for before in self._before:
            whole = whole + before
        return whole


def _require_few_rejected(found: Tally, most: float, kept: FilePath | None) -> None:
    bad = found.rejected.total()
    if bad > most * (bad + found.reports):
        why = found.rejected.most_common(1)[0][0]
        where = "" if kept is not None else ", and keep them in a file with "
        # without numbers: a file of answers, given by mistake, has a number of rows that nobody protects here
        raise ParameterError(
            f"more than {most:.2%} of the rows, the share that may be set aside, hold no report of this mechanism "
            f"(most often: {why}): is it the right mechanism? Raise ",
            Parameter("most_rejected"),
            " if these rows are known" + where,
            *(() if kept is not None else (Parameter("rejected"),)),
        )
    if not found.reports and found.others:
        names = ", ".join(name for name, _ in found.others.most_common(5))
        raise ParameterError(f"all rows are reports of other mechanisms, not of {found.mechanism.id}: {names}")


@contextmanager
def _set_aside(path: FilePath | None) -> Iterator[Callable[[list[Bad]], None]]:
    """A function that writes down rows that are set aside, in a file only its owner can read: they may hold anything.

    The file takes its name in the end, also if there is an error: it is there to find out what is wrong.
    """
    if path is None:
        yield lambda _bad: None
        return
    suffix_of(path, report_files.LINES)
    target = Path(path)
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    except OSError as error:
        raise FileError(f"cannot be written: {error.strerror}", path=path) from None
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:

        def keep(rows: list[Bad]) -> None:
            for bad in rows:
                fields = {"file": bad.file, "row": bad.row, "why": bad.why, "content": bad.content}
                file.write(json.dumps(fields, ensure_ascii=False) + "\n")

        try:
            yield keep
            file.flush()
        finally:
            with suppress(OSError):
                os.replace(part, target)


def _by_name(read: Any, name: str, path: FilePath) -> Counter[str]:
    if not isinstance(read, dict):
        raise ParameterError(f"{name} must be an object")
    found = Counter({key: require_whole(many, path, name) for key, many in read.items()})
    if any(many < 0 for many in found.values()):
        raise ParameterError(f"{name} must be whole numbers from 0 on")
    return found


def _require_possible(counts: list[int], people: int, mechanism: LocalMechanism, path: FilePath) -> None:
    """Refuse counts that so many reports of this mechanism cannot have."""
    randomiser = mechanism.randomiser
    plain = isinstance(randomiser, PlainRandomiser)
    size = randomiser.outputs if isinstance(randomiser, PlainRandomiser) else randomiser.size
    fits = len(counts) == size and people <= _MOST_PEOPLE and max(counts) <= people
    if not fits or (plain and sum(counts) != people):
        raise FileError(f"these are no counts of {people:,} reports of this mechanism", path=path)
