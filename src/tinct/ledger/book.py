"""The ledger as its users see it: charge first, show afterwards."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from tinct.errors import BudgetExceeded, FileError, ParameterError
from tinct.ledger import audits, records
from tinct.ledger.amounts import as_written, budget_delta, budget_epsilon, shown
from tinct.ledger.composition import details_of, options_of, rule_of
from tinct.ledger.entries import Scope, Spending, name_of, text_of
from tinct.ledger.requests import checked_charge, user
from tinct.ledger.store import Damaged, NotCommitted, store_at
from tinct.ledger.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tinct.ledger.composition import Rule
    from tinct.ledger.entries import Charge, Entry
    from tinct.ledger.store import Session

DEFAULT = "default"
MAX_ANSWER = 2**26
_NEARLY = Fraction(1, 10**9)
_busy = threading.local()


class Ledger:
    """A privacy budget, and everything that was charged to it, in an SQLite file or a PostgreSQL database.

    With ``epsilon`` the ledger is made, or opened if it is there with the same budget; without, it must be there.
    ``composition`` says how costs add up: "basic", "advanced" (with a ``slack``) or "accounting" (with a ``plan``).
    Each charge is one transaction: check, draw, record, commit; only then is the answer returned.

    >>> import os, tempfile
    >>> ledger = Ledger(os.path.join(tempfile.mkdtemp(), "budget.db"), epsilon=1)
    >>> ledger.charge(lambda: "yes", epsilon="0.3", question="is it raining?").answer
    'yes'
    >>> print(ledger.spent(), "|", ledger.remaining())
    ε = 0.3 | ε = 0.7
    """

    def __init__(
        self,
        place: Any,
        epsilon: Any = None,
        delta: Any = None,
        *,
        composition: str | None = None,
        slack: Any = None,
        plan: Any = None,
        timeout: float = 30.0,
    ) -> None:
        options = {"delta": delta, "composition": composition, "slack": slack, "plan": plan}
        given = [name for name, value in options.items() if value is not None]
        if epsilon is None and given:
            raise ParameterError(f"{given[0]} needs epsilon: without it, a ledger is opened as it is")
        self._store = store_at(place, timeout)
        if epsilon is None:
            with self._reading():
                pass
        else:
            self.add_scope(DEFAULT, epsilon, delta, composition=composition, slack=slack, plan=plan)

    def __repr__(self) -> str:
        return f"Ledger({self._store.name!r})"

    def charge(
        self,
        draw: Callable[[], Any],
        *,
        epsilon: Any,
        delta: Any = 0,
        request: str | None = None,
        question: str = "",
        digest: str | None = None,
        scope: str = DEFAULT,
        partition: str | None = None,
        group: Any = None,
        who: str | None = None,
        profile: Any = None,
    ) -> Entry:
        """Spend (ε, δ) of a scope's budget on the answer that ``draw()`` returns, and return the recorded entry.

        ``draw`` is called once the budget is known to suffice, and its answer, anything JSON can hold, is returned
        once it is recorded. If it raises, nothing was charged. A ``request`` that was answered before is answered
        with what is stored, free of charge and without a draw, if everything about it is the same; otherwise it
        is refused. ``digest`` may stand for more that has to be the same. Charges to ``group`` (one or several) of a
        declared ``partition`` count as the largest total of any group. ``profile`` are points (ε, δ) that all hold for
        the answer, of which a plan may take advantage.

        Raises:
            BudgetExceeded: if less is left; ``draw`` was not called.
        """
        if not callable(draw):
            raise ParameterError(f"draw must be a function without arguments, got {type(draw).__name__}")
        charge = checked_charge(epsilon, delta, request, question, digest, scope, partition, group, who, profile)
        try:
            with self._writing() as session:
                return self._settled(session, charge) or self._granted(session, charge, draw, epsilon)
        except NotCommitted as error:
            raise FileError(
                f"{error}. Whether the answer was recorded is not known, and it was not shown. Repeat the request with "
                f"request={charge.request!r}: a recorded answer is returned, and not charged again"
            ) from None

    def spent(self, scope: str = DEFAULT) -> Spending:
        """The sums of ε and δ charged so far, with the largest total of any group for each partition."""
        with self._reading() as session:
            used = Usage.read(session, self._scope(session, scope)).used
        return Spending(used["epsilon"], used["delta"])

    def remaining(self, scope: str = DEFAULT) -> Spending:
        """The largest single charge that would still be granted."""
        with self._reading() as session:
            found = self._scope(session, scope)
            return rule_of(found).left(Usage.read(session, found).used)

    def history(self, scope: str | None = None) -> list[Entry]:
        """Every charge, the oldest first: who asked what when, its cost and its answer."""
        with self._reading() as session:
            if scope is not None:
                self._scope(session, scope)
            return [entry for entry, _ in records.entries(session, scope)]

    def scopes(self) -> dict[str, Scope]:
        """The scopes by name, each with its budget."""
        with self._reading() as session:
            return records.scopes(session)

    def partitions(self, scope: str = DEFAULT) -> dict[str, str]:
        """The declared partitions of a scope, each with the owner's statement."""
        with self._reading() as session:
            return records.partitions(session, self._scope(session, scope).name)

    def add_scope(
        self,
        name: str,
        epsilon: Any,
        delta: Any = None,
        *,
        composition: str | None = None,
        slack: Any = None,
        plan: Any = None,
    ) -> None:
        """Give something else that is protected a budget of its own; one that is there must have the same."""
        granted, granted_delta = budget_epsilon(epsilon), budget_delta(0 if delta is None else delta)
        options = options_of(composition, granted_delta, slack, plan)
        scope = Scope(name_of(name, "scope"), granted, granted_delta, as_written(epsilon), *options, records.now())
        known = self._known(name)
        if known is None:
            scope = replace(scope, details=details_of(scope))  # takes time, so it is done before the transaction
            known = self._found(scope)
        if known is not None:
            self._require_same(known, scope, compare_rule=composition is not None)

    def add_partition(self, name: str, statement: str, *, scope: str = DEFAULT, who: str | None = None) -> None:
        """Declare that a partition's groups are disjoint, once and for all: parallel composition rests on it.

        The statement is recorded. It has to be true that nobody is in two groups, and that neighbouring data sets
        differ within one group only: where one person's data is *replaced*, a person's group must not change.
        """
        name_of(name, "partition")
        if not text_of(statement, "statement").strip():
            raise ParameterError("statement must say why nobody is in two groups, got no text")
        by = user(who)
        try:
            with self._writing() as session:
                declared = records.partitions(session, self._scope(session, scope).name)
                if name not in declared:
                    records.add_partition(session, scope, name, statement, by)
                elif declared[name] != statement:
                    raise ParameterError(f"partition {name!r} was declared already, with another statement")
        except NotCommitted as error:
            raise FileError(f"{error}. Whether the partition was recorded is not known: try again") from None

    def audit(self) -> int:
        """Check the file and recompute every total from the entries; return how many there are, or raise FileError."""
        self._store.inspect()
        with self._reading() as session:
            return audits.recompute(session)

    # steps of a charge, in this order within one transaction

    def _settled(self, session: Session, charge: Charge) -> Entry | None:
        """The stored entry of a request that was answered before."""
        found = records.find_entry(session, charge.request)
        if found is None:
            return None
        entry, digest = found
        if digest != charge.digest:
            raise ParameterError(
                f"request {charge.request!r} was answered before, and it was another one: its question, cost, scope, "
                f"group or digest differs. Use a new request id"
            )
        return replace(entry, repeated=True)

    def _granted(self, session: Session, charge: Charge, draw: Callable[[], Any], asked: Any) -> Entry:
        scope = self._scope(session, charge.scope)
        if charge.partition and charge.partition not in records.partitions(session, scope.name):
            raise ParameterError(f"partition {charge.partition!r} is not declared: use add_partition first")
        usage = Usage.read(session, scope, charge.partition, charge.groups)
        rule = rule_of(scope)
        after = self._checked(usage, rule, scope, charge, asked)
        answer = _recordable(draw())
        return after.record(session, replace(charge, epsilon=after.cost["epsilon"]), answer)

    def _checked(self, usage: Usage, rule: Rule, scope: Scope, charge: Charge, asked: Any) -> Usage:
        """What is used after the charge, if that fits the budget."""
        whole = not usage.used["epsilon"] and as_written(asked) == scope.written
        for cost in rule.costs(charge.epsilon, charge.delta, charge.points):
            # the whole of a budget such as ln 3 in one charge: the same number, kept from below and charged from above.
            # Only in the plain sum, which is then used up: other amounts are added to, and stay rounded up
            after = usage.plus({**cost, "epsilon": scope.epsilon} if whole else cost)
            if rule.fits(after.used):
                return after
        left = rule.left(usage.used)
        raise BudgetExceeded(
            f"{self._store.name}: scope {scope.name!r}: not enough privacy is left. "
            f"ε: spent {shown(usage.used['epsilon'])}, asked {shown(charge.epsilon)}, "
            f"left {shown(left.epsilon)} of {scope.written}; "
            f"δ: spent {shown(usage.used['delta'])}, asked {shown(charge.delta)}, "
            f"left {shown(left.delta)} of {shown(scope.delta)}{_hint(asked, charge.epsilon - left.epsilon)}"
        )

    def _scope(self, session: Session, name: str) -> Scope:
        found = records.find_scope(session, name_of(name, "scope"))
        if found is None:
            others = records.scopes(session)
            if name in others:
                raise Damaged("a scope is there and cannot be found: the ledger is damaged, restore it from a copy")
            known = ", ".join(repr(other) for other in list(others)[:20])
            raise ParameterError(f"{self._store.name}: there is no scope {name!r}, only {known}")
        return found

    def _known(self, name: str) -> Scope | None:
        if not self._store.present():
            return None
        with self._reading() as session:
            return records.find_scope(session, name)

    def _found(self, scope: Scope) -> Scope | None:
        """Record a new scope, and the ledger with it if it is the first; return the one that is there already."""
        try:
            with self._founding() if scope.name == DEFAULT else self._writing() as session:
                if records.entry_count(session) is None:
                    records.set_entry_count(session, 0)
                known = records.find_scope(session, scope.name)
                if known is None:
                    records.add_scope(session, scope)
                return known
        except NotCommitted as error:
            raise FileError(f"{error}. Whether the budget was recorded is not known: try again") from None

    def _require_same(self, known: Scope, wanted: Scope, *, compare_rule: bool) -> None:
        same = (known.written, known.delta) == (wanted.written, wanted.delta)
        if compare_rule:
            same = same and known.composition == wanted.composition
            same = same and all(known.details.get(name) == wanted.details.get(name) for name in ("slack", "plan"))
        if not same:
            raise ParameterError(
                f"{self._store.name}: scope {known.name!r} has another budget: ε = {known.written}, "
                f"δ = {shown(known.delta)}, composition {known.composition!r}; it cannot be changed. Open the ledger "
                f"without epsilon to use it as it is"
            )

    # transactions

    @contextmanager
    def _founding(self) -> Iterator[Session]:
        with self._alone(), self._naming(), self._store.founding() as session:
            yield session

    @contextmanager
    def _writing(self) -> Iterator[Session]:
        with self._alone(), self._naming(), self._store.writing() as session:
            yield session

    @contextmanager
    def _reading(self) -> Iterator[Session]:
        with self._naming(), self._store.reading() as session:
            yield session

    @contextmanager
    def _naming(self) -> Iterator[None]:
        try:
            yield
        except Damaged as error:
            raise FileError(f"{self._store.name}: {error}") from None

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Refuse a draw that charges the same ledger: it would wait for itself."""
        held: set[str] = _busy.__dict__.setdefault("places", set())
        if self._store.name in held:
            raise ParameterError("draw must not write to the ledger that it is being charged to")
        held.add(self._store.name)
        try:
            yield
        finally:
            held.discard(self._store.name)


def _recordable(answer: Any) -> str:
    """The JSON text of an answer. The error does not show it: nothing is shown that is not recorded."""
    try:
        text = json.dumps(answer, allow_nan=False, separators=(",", ":"))
        json.loads(text)
    except (TypeError, ValueError, RecursionError):
        raise ParameterError(
            f"draw must return what JSON can hold (text, finite numbers, lists, ...), got {type(answer).__name__}: "
            f"nothing was charged"
        ) from None
    if len(text) > MAX_ANSWER:
        raise ParameterError(f"an answer may have at most {MAX_ANSWER:,} characters as JSON: nothing was charged")
    return text


def _hint(asked: Any, short: Fraction) -> str:
    """A word about floats, if the decimals that were meant might have fitted."""
    if not isinstance(asked, float) or not short < _NEARLY:
        return ""
    text = float.__repr__(asked)
    return "" if Fraction(text) == asked else f". A float is not its decimal: write epsilon={text!r} as text"
