"""ask for very many groups: counted, selected and answered on the executors, charged once, published once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.asking.asking import Request, plan_of
from tinct.asking.charging import charged
from tinct.asking.designs import design
from tinct.errors import FileError, ParameterError, TinctError
from tinct.ledger import Ledger
from tinct.questions.counting import GroupCounts
from tinct.sources.spark import open_frame
from tinct.sources.spark_engine import guarded
from tinct.spark import publishing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tinct.asking.answers import Plan
    from tinct.asking.designs import GroupDesign
    from tinct.asking.groups import Groups
    from tinct.questions import Question


_MARK = "tinct_request"  # in the stored schema: whose answers these are


@dataclass(frozen=True, eq=False)
class GroupAnswers:
    """One private answer for each group, published under ``path``.

    Attributes:
        table: A DataFrame (group, answer), read from ``path``; answers are text.
        path: Where it stands.
        plan: Everything public about the answers.
        request: The name of the request in the ledger, if there is one.
        left: What remains of the budget.
    """

    table: Any
    path: str
    plan: Plan
    request: str | None = None
    left: str | None = None


def ask_groups(
    df: Any,
    question: Question | str,
    epsilon: Any,
    delta: Any = 0,
    *,
    by: str,
    path: str,
    unit: str | None = None,
    where: Any = None,
    groups: Sequence[str] | None = None,
    select: Any = None,
    lean: Any = None,
    ledger: Any = None,
    request: str | None = None,
    scope: str = "default",
    who: str | None = None,
) -> GroupAnswers:
    """Answer a question for each group of a column, for as many groups as there are.

    The same as ``ask(df, question, by=…)``, except that neither counts nor answers pass through the driver: each
    executor draws for its own groups, and the answers are published under ``path``. The budget is charged before
    anything is drawn. If the job then fails, it is spent and nothing is published; the same ``request`` and ``path``
    draw again, free of charge, until something is, and return that ever after.

    The arguments are those of ``ask``; ``path`` is a folder that must not exist, unless this request published it.
    """
    asked = Request.of(question, epsilon, delta, by, unit, "add-remove", where, groups, select, lean, None, None)
    if asked.groups is None or asked.privacy is None:
        raise ParameterError("by must name the column of groups")
    source = open_frame(df)
    source.require_rows()
    source.check(asked.question, where=where, unit=unit, by=by)
    made = design(asked.question, asked.groups.answering, asked.neighbors, None, lean=lean)
    cost = (asked.privacy.exact_epsilon, asked.privacy.exact_delta)
    plan = plan_of(asked, made, cost, (*asked.groups.rules(by), f"the answers are published under {path}"))
    session = df.sparkSession
    if not _is_recorded(ledger, request):
        publishing.require_free(session, path)  # before anything is charged
    answer = charged(plan, lambda: {"published": path}, cost, ledger, request, scope, who)
    if not (answer.repeated and publishing.exists(session, path)):
        drawn = _drawn(source, asked, asked.groups, made)
        _publish_first(drawn.withMetadata("group", {_MARK: answer.request or ""}), path, answer.repeated)
    table = publishing.read(session, path)
    if table.schema[0].metadata.get(_MARK) != (answer.request or ""):
        raise FileError(f"{path}: this was not published by request {answer.request!r}: choose another path")
    return GroupAnswers(table, path, plan, answer.request, answer.left)


def _is_recorded(ledger: Any, request: str | None) -> bool:
    if ledger is None or request is None:
        return False
    book = ledger if isinstance(ledger, Ledger) else Ledger(ledger)
    return any(entry.request == request for entry in book.history())


def _publish_first(drawn: Any, path: str, repeated: bool) -> None:
    """Publish, unless the same request, running elsewhere, was faster: then its answers stand and these are dropped."""
    try:
        publishing.publish(drawn, path)
    except TinctError:
        if not (repeated and publishing.exists(drawn.sparkSession, path)):
            raise


def _drawn(source: Any, asked: Request, groups: Groups, made: GroupDesign) -> Any:
    counts, size = source.grouped(asked.question, asked.by, where=asked.where, unit=asked.unit, groups=groups.declared)
    counts = counts.where("label IS NOT NULL")
    if groups.declared is not None:
        counts = _with_empty(counts, groups.declared)
    return guarded(
        "answering", lambda: counts.mapInArrow(_answering(groups, made, size), "group string, answer string")
    )


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
            found = groups.draw(made, counts) if len(counts) else {}
            texts = [pa.array([str(each) for each in part], pa.string()) for part in (found.keys(), found.values())]
            yield pa.RecordBatch.from_arrays(texts, names=["group", "answer"])

    return answer
