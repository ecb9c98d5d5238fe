"""ask for very many groups: charged once, counted, selected and answered on the executors, published once.

Answers are drawn into a folder that only this account can enter. The ledger then takes one of these folders as *the*
answer, once, and only that one is given its public name; whoever is interrupted goes on from there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.asking._ask import Ready, check_columns, plan_of
from tinct.asking.designs import design
from tinct.asking.groups import answer_text
from tinct.asking.request import Grouped, read_request
from tinct.asking.with_ledger import book_of, completed, granted, in_part, json_size, left_in
from tinct.errors import FileError, Parameter, ParameterError, TinctError
from tinct.exact.sampler import token
from tinct.questions.counts import GroupCounts
from tinct.sources.spark_engine import guarded
from tinct.sources.spark_frames import SparkSource, open_frame
from tinct.spark import publishing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from tinct._files.loading import FilePath
    from tinct.asking.answers import Plan
    from tinct.asking.designs import GroupDesign
    from tinct.asking.groups import Groups
    from tinct.ledger import Entry, Ledger
    from tinct.numbers.amounts import AmountLike, NumberLike
    from tinct.questions import Question
    from tinct.questions.predicates import Predicate


_MARK = "tinct_request"  # in the stored schema: whose answers these are
_FILES = 16  # a fixed number: Spark's own choice depends on how much was counted


@dataclass(frozen=True, eq=False)
class GroupAnswers:
    """One private answer for each group, published under ``path``.

    Attributes:
        table: A DataFrame (group, answer), read from ``path``; answers are text.
        path: The folder of the published answers.
        plan: Everything public about the answers.
        request: The name of the request in the ledger, if there is one.
        left: What remains of the budget.
        repeated: Whether the request was answered before, and nothing was charged now.
    """

    table: Any
    path: str
    plan: Plan
    request: str | None = None
    left: str | None = None
    repeated: bool = False


def ask_groups(
    df: DataFrame | SparkSource,
    question: Question | str,
    epsilon: AmountLike,
    delta: NumberLike = 0,
    *,
    by: str | Sequence[str],
    path: str,
    unit: str | None = None,
    where: str | Predicate | None = None,
    groups: Sequence[str] | None = None,
    select: NumberLike | None = None,
    lean: NumberLike | None = None,
    ledger: Ledger | FilePath | None = None,
    request: str | None = None,
    scope: str = "default",
    who: str | None = None,
) -> GroupAnswers:
    """Answer a question for each group of a column, for as many groups as there are.

    The same as ``ask(df, question, by=…)``, except that neither counts nor answers pass through the driver: each
    executor draws for its own groups, and the answers are published under ``path``, however many there are. The
    budget is charged before anything is counted. A job that fails stays charged and publishes nothing; the same
    ``request`` and ``path`` complete it without a further charge, and return what was published from then on. What was
    published is never drawn again, not even if it has been deleted since.

    The arguments are those of ``ask``; ``path`` is a folder that must not exist, unless this request published it.
    """
    if not isinstance(by, str):
        raise ParameterError.of("by", "the column of groups")
    book = book_of(ledger)
    if book is None and request is not None:
        raise ParameterError(
            Parameter("request"), " needs a ledger: only a ledger remembers answers", parameter="request"
        )
    owner = None if book is None else book.protects(scope)
    asked = read_request(
        question, epsilon, delta, by, unit, where=where, groups=groups, select=select, lean=lean, owner=owner
    )
    if not isinstance(asked, Grouped):
        raise ParameterError("by must name the column of groups")
    source = df if isinstance(df, SparkSource) else open_frame(df)
    check_columns(asked, source, owner)
    privacy, divided = asked.privacy, asked.groups
    made = design(
        asked.question, divided.answering, asked.neighbors, None, lean=lean, selecting=divided.by_number
    )  # fmt: skip
    cost = (privacy.exact_epsilon, privacy.exact_delta)
    rules = (*divided.rules(asked.by, asked.unit, published=True), f"the answers are published under {path}")
    plan = plan_of(asked, source, owner, made, cost, rules)
    session, own = source.session, token()

    def drawn() -> Any:
        return _drawn(source, asked, divided, made)

    if book is None:
        publishing.require_free(session, path)
        publishing.stage(drawn().withMetadata("group", {_MARK: ""}), path, own)
        publishing.reveal(session, path, own)
        return GroupAnswers(publishing.read(session, path), path, plan)
    ready = Ready(plan, cost, json_size({"published": path, "folder": own}), lambda: None)
    ready = in_part(asked, ready, book, scope)
    known = None if request is None else book.find(request)
    if known is None or not known.answered:
        publishing.require_free(session, path)
    entry = granted(asked, ready, source.place, book, request, scope, who, published=path)

    def stage() -> dict[str, str]:
        publishing.stage(drawn().withMetadata("group", {_MARK: entry.request}), path, own)
        return {"published": path, "folder": own}

    try:
        entry = completed(book, entry, stage)
    finally:
        if not _is_recorded(book, entry.request, own):
            publishing.discard(session, path, own)
    _require_published(session, path, entry)
    table = publishing.read(session, path)
    return GroupAnswers(table, path, plan, entry.request, left_in(book, scope), entry.repeated)


def _is_recorded(book: Ledger, request: str, own: str) -> bool:
    """Whether the ledger has taken this run's folder as the answer, or may have: then it must not be thrown away."""
    try:
        found = book.find(request)
    except TinctError:
        return True
    return found is not None and found.answered and found.answer["folder"] == own


def _require_published(session: SparkSession, path: str, entry: Entry) -> None:
    """Give the recorded answers their name, unless they have it. If they are gone they are not drawn again."""
    if not publishing.exists(session, path):
        if not publishing.is_staged(session, path, entry.answer["folder"]):
            raise FileError(
                f"request {entry.request!r} was answered before, and its answers are no longer here. They are "
                "not drawn again: put the folder back, or ask under another name, which is charged",
                path=path,
            )
        publishing.reveal(session, path, entry.answer["folder"])
    if publishing.read(session, path).schema[0].metadata.get(_MARK) != entry.request:
        raise FileError(f"this was not published by request {entry.request!r}: choose another path", path=path)


def _drawn(source: Any, asked: Grouped, groups: Groups, made: GroupDesign) -> Any:
    counts, size = source.grouped(
        asked.question,
        asked.by,
        where=asked.where,
        unit=asked.unit,
        groups=groups.declared,
        per_person=groups.per_person,
    )
    counts = counts.where("label IS NOT NULL")
    if groups.declared is not None:
        counts = _with_empty(counts, groups.declared)
    answers = guarded(
        "answering", lambda: counts.mapInArrow(_answering(groups, made, size), "group string, answer string")
    )
    # the number of files, and the order in them, must say nothing about groups that are not shown
    return answers.repartition(_FILES, "group").sortWithinPartitions("group")


def _with_empty(counts: Any, declared: Sequence[str]) -> Any:
    """Declared groups get an answer whether anybody is in them or not."""
    import pyarrow as pa

    listed = counts.sparkSession.createDataFrame(pa.table({"label": pa.array(declared, pa.string())}))
    return listed.join(counts, "label", "left").fillna(0)


def _answering(groups: Groups, made: GroupDesign, size: int) -> Callable[[Any], Any]:
    def answer(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            classes = [batch.column(f"n{at}").to_numpy(zero_copy_only=False) for at in range(size)]
            missing = batch.column("missing").to_numpy(zero_copy_only=False)
            counts = GroupCounts(
                int(batch.column("many").to_numpy(zero_copy_only=False).sum()),
                tuple(batch.column("label").to_pylist()),
                np.column_stack(classes).astype(np.int64),
                missing.astype(np.int64),
            )
            found = groups.answered(made, counts)
            texts = [pa.array([answer_text(each) for each in part], pa.string()) for part in (found, found.values())]
            yield pa.RecordBatch.from_arrays(texts, names=["group", "answer"])

    return answer
