"""ask for very many groups: counted, selected and answered on the executors, charged once, published once."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from tinct.asking.asking import Request, plan_of
from tinct.asking.charging import charged
from tinct.asking.designs import design
from tinct.errors import BudgetExceeded, FileError, ParameterError
from tinct.exact.sampler import token
from tinct.ledger import Ledger
from tinct.ledger.requests import checked_charge
from tinct.questions.counting import GroupCounts
from tinct.sources.spark import open_frame
from tinct.sources.spark_engine import guarded
from tinct.spark import publishing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tinct.asking.answers import Answer, Plan
    from tinct.asking.designs import GroupDesign
    from tinct.asking.groups import Groups
    from tinct.questions import Question


_MARK = "tinct_request"  # in the stored schema: whose answers these are
_ROUNDING = Fraction(1, 10**6)  # what is left is looked for to some places only


@dataclass(frozen=True, eq=False)
class GroupAnswers:
    """One private answer for each group, published under ``path``.

    Attributes:
        table: A DataFrame (group, answer), read from ``path``; answers are text.
        path: Where it stands.
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
    executor draws for its own groups, and the answers are published under ``path``. The budget is charged when all
    answers are drawn and before anybody can see one: a job that fails costs nothing and publishes nothing. The same
    ``request`` and ``path`` return what was published, free of charge. It is never drawn again, not even if it has
    been deleted since.

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
    plan = plan_of(asked, source, made, cost, (*asked.groups.rules(by), f"the answers are published under {path}"))
    session, name = df.sparkSession, _name(ledger, request)

    def charge() -> Answer:
        return charged(plan, lambda: {"published": path}, cost, ledger, name or None, scope, who)

    if _is_recorded(ledger, request):
        answer = charge()  # free of charge, and refused if it was another request
        _require_published(session, path, name)
    else:
        publishing.require_free(session, path)
        _require_affordable(ledger, cost, name, scope, who)
        answer = _published(_drawn(source, asked, asked.groups, made), path, name, charge)
    return GroupAnswers(publishing.read(session, path), path, plan, answer.request, answer.left, answer.repeated)


def _name(ledger: Any, request: str | None) -> str:
    """The name of the request, which is stored with the answers; empty if nothing is charged."""
    if ledger is None and request is not None:
        raise ParameterError("request needs a ledger: only a ledger remembers answers")
    return "" if ledger is None else token() if request is None else request


def _book(ledger: Any) -> Ledger:
    return ledger if isinstance(ledger, Ledger) else Ledger(ledger)


def _is_recorded(ledger: Any, request: str | None) -> bool:
    if ledger is None or request is None:
        return False
    return any(entry.request == request for entry in _book(ledger).history())


def _require_affordable(ledger: Any, cost: tuple[Any, Fraction], name: str, scope: str, who: str | None) -> None:
    """Refuse what the ledger would refuse in the end, before an hour of work; only the charge itself decides."""
    if ledger is None:
        return
    asked = checked_charge(cost[0], cost[1], name, "", None, scope, None, None, who, None)
    left = _book(ledger).remaining(scope)
    if asked.epsilon > left.epsilon + _ROUNDING:
        raise BudgetExceeded(f"not enough privacy is left for ε = {cost[0]} in scope {scope!r}: {left}")


def _published(drawn: Any, path: str, name: str, charge: Callable[[], Answer]) -> Answer:
    """Draw into a hidden folder, charge, and only then give it its name."""
    answers: list[Answer] = []

    def pay(_: Any) -> None:
        answers.append(charge())
        if answers[0].repeated:  # the same request, running elsewhere, was faster: its answers stand
            raise FileError(f"{path}: request {name!r} was answered by another run meanwhile: ask again to read it")

    publishing.publish(drawn.withMetadata("group", {_MARK: name}), path, check=pay)
    return answers[0]


def _require_published(session: Any, path: str, name: str) -> None:
    """Refuse to draw for a request that was answered: whoever saw the first answers would see others."""
    if not publishing.exists(session, path):
        raise FileError(
            f"{path}: request {name!r} was answered before, and its answers are no longer here. They are not drawn "
            "again: put the folder back, or ask under another name, which is charged"
        )
    if publishing.read(session, path).schema[0].metadata.get(_MARK) != name:
        raise FileError(f"{path}: this was not published by request {name!r}: choose another path")


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
