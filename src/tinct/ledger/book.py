"""The ledger as its users see it: charge, then draw, store the answer once, and only then show it."""

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from tinct.errors import BudgetExceeded, FileError, NotAnswered, Parameter, ParameterError, Way
from tinct.ledger import stored_rows, totals
from tinct.ledger.charges import ROOM, checked_charge, used_for_another, user
from tinct.ledger.composition import details_of, options_of, rule_of
from tinct.ledger.contents import Scope, Spending, State, name_of, text_of
from tinct.ledger.costs import as_written, budget_delta, budget_epsilon, cost_epsilon, shown
from tinct.ledger.protection import Protection
from tinct.ledger.store import Damaged, NotCommitted, store_at
from tinct.ledger.stored_rows import NOBODY
from tinct.ledger.totals import Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tinct._files.loading import FilePath
    from tinct.ledger.composition import Rule
    from tinct.ledger.contents import Charge, Entry, PlanLike, ProfileLike
    from tinct.ledger.store import Session, Store
    from tinct.numbers.amounts import AmountLike, NumberLike

DEFAULT = "default"
_NEARLY = Fraction(1, 10**9)
_BACKQUOTED = re.compile(r"`((?:[^`]|``)+)`")  # how older versions wrote names with blanks in them


def _double_quoted(name: re.Match[str]) -> str:
    doubled = name[1].replace("``", "`").replace('"', '""')
    return f'"{doubled}"'


class Ledger:
    """A privacy budget, and everything that was charged to it, in an SQLite file or a PostgreSQL database.

    With ``epsilon`` the ledger is created, or opened if it exists with the same budget; without, it must exist.
    ``composition`` says how costs add up: "basic", "advanced" (with a ``slack``) or "accounting" (with a ``plan``).
    ``protects`` says who is one person and which datasets are neighbours: by default every row is one person, who may
    be added or removed. A charge is on the disk before anything is drawn, and is never undone; the answer is
    stored once, and only then returned.

    >>> import os, tempfile
    >>> ledger = Ledger(os.path.join(tempfile.mkdtemp(), "budget.db"), epsilon=1)
    >>> ledger.charge(lambda: "yes", epsilon="0.3", question="is it raining?").answer
    'yes'
    >>> print(ledger.spent(), "|", ledger.remaining())
    ε = 0.3 | ε = 0.7
    """

    def __init__(
        self,
        place: FilePath | Store,
        epsilon: AmountLike | None = None,
        delta: NumberLike | None = None,
        *,
        composition: str | None = None,
        slack: NumberLike | None = None,
        plan: PlanLike | None = None,
        protects: Protection | None = None,
        timeout: float = 30.0,
    ) -> None:
        options = {"delta": delta, "composition": composition, "slack": slack, "plan": plan, "protects": protects}
        given = [name for name, value in options.items() if value is not None]
        if epsilon is None and given:
            raise ParameterError.about(
                "epsilon", f"`{given[0]}` needs `epsilon`: without it, an existing ledger is opened"
            )
        self._store = store_at(place, timeout)
        if epsilon is None:
            with self._reading():
                pass
        else:
            self.add_scope(DEFAULT, epsilon, delta, composition=composition, slack=slack, plan=plan, protects=protects)

    def __repr__(self) -> str:
        return f"Ledger({self._store.name!r})"

    def charge(
        self,
        draw: Callable[[], Any],
        *,
        epsilon: AmountLike,
        delta: NumberLike = 0,
        request: str | None = None,
        question: str = "",
        digest: str | None = None,
        scope: str = DEFAULT,
        partition: str | None = None,
        group: str | Iterable[str] | None = None,
        who: str | None = None,
        profile: ProfileLike | None = None,
        room: int = ROOM,
        protects: Protection | None = None,
    ) -> Entry:
        """Spend (ε, δ) of a scope's budget on the answer that ``draw()`` returns, and return the recorded entry.

        The charge is recorded first and never undone. Then ``draw`` is called; its answer, any JSON value, is stored
        once and returned. If ``draw`` raises or the answer cannot be stored, the charge stays, and the same request
        draws again without a further charge. A ``request`` that was answered before returns the stored answer, free of
        charge and without a draw, if everything about it is the same; otherwise it is refused. Every answer takes
        ``room`` bytes in the ledger; one that does not fit (as JSON in UTF-8) is lost for good.

        ``digest`` can represent further facts that must be the same. Charges to ``group`` (one or several) of a
        declared ``partition`` count as the largest total of any group. ``profile`` lists points (ε, δ) that all hold
        for the answer, which a plan can use. ``protects`` says whom the cost protects; by default, whom the scope
        protects, with one ε for everybody. Where people have an ε of their own, that is at most the smallest; an
        answer that keeps to each person's own says ``protects=ledger.protects(scope)`` and costs the largest.

        Raises:
            BudgetExceeded: if too little is left; nothing was charged, and ``draw`` was not called.
            NotAnswered: if the answer could not be stored.
        """
        if not callable(draw):
            raise ParameterError.of("draw", "a function without arguments", ..., f", got {type(draw).__name__}")
        entry = self.grant(
            epsilon=epsilon, delta=delta, request=request, question=question, digest=digest, scope=scope,
            partition=partition, group=group, who=who, profile=profile, room=room, protects=protects,
        )  # fmt: skip
        return self.answer(entry, draw)

    def grant(
        self,
        *,
        epsilon: AmountLike,
        delta: NumberLike = 0,
        request: str | None = None,
        question: str = "",
        digest: str | None = None,
        scope: str = DEFAULT,
        partition: str | None = None,
        group: str | Iterable[str] | None = None,
        who: str | None = None,
        profile: ProfileLike | None = None,
        room: int = ROOM,
        protects: Protection | None = None,
    ) -> Entry:
        """The first half of ``charge``: record the charge and reserve room for the answer, or find the request."""
        charge = checked_charge(
            epsilon, delta, request, question, digest, scope, partition, group, who, profile, room, protects
        )
        try:
            with self._writing() as session:
                return self._known_request(session, charge, epsilon) or self._granted(session, charge, epsilon)
        except NotCommitted as error:
            raise FileError(
                f"{error}. It is not known whether it was charged; nothing was drawn. Repeat the request with ",
                Parameter("request", charge.request),
                ": it is charged at most once",
                path=self._store.name,
            ) from None

    def recall(
        self,
        request: str,
        *,
        epsilon: AmountLike,
        delta: NumberLike = 0,
        question: str = "",
        digest: str | None = None,
        scope: str = DEFAULT,
        partition: str | None = None,
        group: str | Iterable[str] | None = None,
        protects: Protection | None = None,
    ) -> Entry | None:
        """The entry of a request if everything about it is the same as for ``grant``, else None. Nothing is charged."""
        charge = checked_charge(
            epsilon, delta, request, question, digest, scope, partition, group, None, None, ROOM, protects
        )
        with self._reading() as session:
            found = stored_rows.find_entry(session, charge.request)
            return found[0] if found is not None and self._is_same(session, *found, charge, epsilon) else None

    def check(
        self,
        *,
        epsilon: Any,
        delta: Any = 0,
        scope: str = DEFAULT,
        partition: str | None = None,
        group: str | Iterable[str] | None = None,
        protects: Protection | None = None,
    ) -> None:
        """Raise BudgetExceeded if a charge of (ε, δ) would be refused now. Nothing is charged."""
        charge = checked_charge(epsilon, delta, None, "", None, scope, partition, group, None, None, ROOM, protects)
        with self._reading() as session:
            self._after(session, self._scope(session, scope), charge, epsilon)

    def answer(self, entry: Entry, draw: Callable[[], Any]) -> Entry:
        """The second half of ``charge``: draw, store the answer unless there is one already, and return the stored one.

        If two programs answer at once, both return the answer stored first. No seed and no other draw is kept.
        """
        if entry.state is State.CHARGED:
            stored = self._drawn(entry, draw)
            if stored is None:  # raised here, where no frame of the error holds what was drawn
                raise not_answered(entry.request)
            entry = replace(stored, repeated=entry.repeated)
        if entry.state is State.LOST:
            raise NotAnswered(
                f"the answer of request {entry.request!r} did not fit into the {entry.room:,} bytes reserved for it "
                "and is lost; it stays charged",
                entry.request,
            )
        return entry

    def find(self, request: str) -> Entry | None:
        """The entry of a request, if there is one."""
        with self._reading() as session:
            found = stored_rows.find_entry(session, name_of(request, "request"))
        return found[0] if found else None

    def spent(self, scope: str = DEFAULT) -> Spending:
        """The sums of ε and δ charged so far; of each partition, the largest total of any group."""
        with self._reading() as session:
            used = Usage.read(session, self._scope(session, scope)).used
        return Spending(used["epsilon"], used["delta"])

    def remaining(self, scope: str = DEFAULT) -> Spending:
        """The largest single charge that would still be granted."""
        with self._reading() as session:
            found = self._scope(session, scope)
            return rule_of(found).left(Usage.read(session, found).used)

    def history(self, scope: str | None = None) -> list[Entry]:
        """All charges, oldest first: who asked what and when, the cost and the answer."""
        with self._reading() as session:
            if scope is not None:
                self._scope(session, scope)
            return [entry for entry, _ in stored_rows.entries(session, scope)]

    def scopes(self) -> dict[str, Scope]:
        """The scopes by name, each with its budget."""
        with self._reading() as session:
            return stored_rows.scopes(session)

    def protects(self, scope: str = DEFAULT) -> Protection:
        """Whom a scope protects, as its owner declared; a ParameterError if nothing was declared."""
        with self._reading() as session:
            found = self._scope(session, scope)
        if found.protects is None:
            raise undeclared(self._store.name, found.name)
        return found.protects

    def partitions(self, scope: str = DEFAULT) -> dict[str, str]:
        """The declared partitions of a scope, each with the owner's statement."""
        with self._reading() as session:
            return stored_rows.partitions(session, self._scope(session, scope).name)

    def add_scope(
        self,
        name: str,
        epsilon: AmountLike,
        delta: NumberLike | None = None,
        *,
        composition: str | None = None,
        slack: NumberLike | None = None,
        plan: PlanLike | None = None,
        protects: Protection | None = None,
    ) -> None:
        """Add a separate budget, such as for other data or people; an existing scope must have the same budget."""
        granted, granted_delta = budget_epsilon(epsilon), budget_delta(0 if delta is None else delta)
        options = options_of(composition, granted_delta, slack, plan)
        whom = Protection() if protects is None else _protection(protects)
        scope = Scope(
            name_of(name, "scope"), granted, granted_delta, as_written(epsilon), *options, stored_rows.now(), whom
        )
        known = self._known(name)
        if known is None:
            scope = replace(scope, details=details_of(scope))  # takes time, so it is done before the transaction
            known = self._found(scope)
        if known is not None:
            self._require_same(known, scope, compare_rule=composition is not None)
            if protects is not None and known.protects != protects:
                raise ParameterError(
                    f"scope {name!r} has another declaration ({known.protects or 'none'}): see tinct budget declare",
                    path=self._store.name,
                )

    def lower(self, epsilon: AmountLike, delta: NumberLike | None = None, *, scope: str = DEFAULT) -> None:
        """Lower a budget to which nothing was charged yet, such as a mistyped one; δ stays if it is left out."""
        granted = budget_epsilon(epsilon)
        try:
            with self._writing() as session:
                known = self._scope(session, scope)
                wanted = known.delta if delta is None else budget_delta(delta)
                if known.composition == "accounting":
                    raise ParameterError("a budget with a plan is for this plan: make another scope")
                if stored_rows.is_used(session, known.name):
                    raise ParameterError(
                        f"scope {scope!r} has charges, so its budget cannot change: make another scope"
                    )
                if granted > known.epsilon or wanted > known.delta:
                    raise ParameterError(
                        f"a budget can only be lowered: that of scope {scope!r} is ε = {known.written}, "
                        f"δ = {shown(known.delta)}"
                    )
                rule, details = options_of(known.composition, wanted, known.details.get("slack"), None)
                less = Scope(
                    known.name, granted, wanted, as_written(epsilon), rule, details, known.created, known.protects
                )
                stored_rows.change_budget(session, replace(less, details=details_of(less)))
        except NotCommitted as error:
            raise FileError(
                f"{error}. It is not known whether the budget was recorded: try again", path=self._store.name
            ) from None

    def declare(self, protects: Protection, *, scope: str = DEFAULT, who: str | None = None) -> None:
        """Declare whom a scope protects: until the first charge, or once for a scope of an older ledger.

        Earlier charges of an older scope are taken to be in these terms: the owner must know that this is true.
        """
        whom, by = _protection(protects), user(who)
        try:
            with self._writing() as session:
                known = self._scope(session, scope)
                if known.protects == whom:
                    return
                if known.protects is not None and stored_rows.is_used(session, known.name):
                    raise ParameterError(
                        f"scope {scope!r} has charges, so whom it protects cannot change "
                        f"({known.protects}): make another scope",
                        path=self._store.name,
                    )
                stored_rows.add_declaration(session, known.name, whom, by)
        except NotCommitted as error:
            raise FileError(
                f"{error}. It is not known whether the declaration was recorded: try again", path=self._store.name
            ) from None

    def add_partition(self, name: str, statement: str, *, scope: str = DEFAULT, who: str | None = None) -> None:
        """Declare that the groups of a partition are disjoint, so that charges to different groups do not add up.

        The statement is recorded and final. It must be true that nobody is in two groups, and that neighbouring
        datasets differ within one group only: if neighbours *replace* a person, that person's group must not change.
        """
        name_of(name, "partition")
        if not text_of(statement, "statement").strip():
            raise ParameterError("statement must say why nobody is in two groups, but it is empty")
        by = user(who)
        try:
            with self._writing() as session:
                declared = stored_rows.partitions(session, self._scope(session, scope).name)
                if name not in declared:
                    stored_rows.add_partition(session, scope, name, statement, by)
                elif declared[name] != statement:
                    raise ParameterError(f"partition {name!r} was declared already, with another statement")
        except NotCommitted as error:
            raise FileError(
                f"{error}. It is not known whether the partition was recorded: try again", path=self._store.name
            ) from None

    def audit(self) -> int:
        """Check the file and recompute every total from the entries; return how many there are, or raise FileError."""
        self._store.inspect()
        with self._reading() as session:
            return totals.recompute(session)

    # steps of a charge

    def _known_request(self, session: Session, charge: Charge, asked: AmountLike) -> Entry | None:
        """The stored entry of a request that was made before."""
        found = stored_rows.find_entry(session, charge.request)
        if found is None:
            return None
        entry, digest = found
        if not self._is_same(session, entry, digest, charge, asked):
            raise self._used_for_another(session, entry, charge, asked)
        if entry.state is State.CHARGED:
            self._require_paid(session, entry, charge, asked)
        return replace(entry, repeated=True)

    def _is_same(self, session: Session, entry: Entry, digest: str, charge: Charge, asked: AmountLike) -> bool:
        """Whether a stored entry is for this very charge."""
        same = self._is_same_as_older(session, entry, charge, asked) if entry.older else digest == charge.digest
        # the digest covers these too, but whoever can write an entry may have given it the digest of another
        return same and self._where(entry) == self._where(charge)

    def _used_for_another(self, session: Session, entry: Entry, charge: Charge, asked: AmountLike) -> ParameterError:
        scope = self._scope(session, charge.scope)
        if entry.scope != charge.scope:  # another scope may count in other terms
            return used_for_another(entry, charge, set())
        charge = self._in_terms_of(scope, charge, asked)
        whole = {scope.epsilon} if as_written(asked) == scope.written else set()
        return used_for_another(entry, charge, {charge.epsilon} | whole)

    @staticmethod
    def _where(given: Entry | Charge) -> tuple[str, str, tuple[str, ...]]:
        return given.scope, given.partition or NOBODY, given.groups

    def _require_paid(self, session: Session, entry: Entry, charge: Charge, asked: AmountLike) -> None:
        """Nothing is drawn for a charge that somebody has put there for less than it costs, or beyond the budget."""
        scope = self._scope(session, charge.scope)
        charge, rule, paid = (
            self._in_terms_of(scope, charge, asked),
            rule_of(scope),
            stored_rows.find_cost(session, entry.number),
        )
        unchanged = charge.epsilon == cost_epsilon(asked)  # it was not converted
        whole = {"epsilon": scope.epsilon} if unchanged and as_written(asked) == scope.written else {}
        costs = [
            {**cost, **other}
            for cost in rule.costs(charge.epsilon, charge.delta, charge.points)
            for other in ({}, whole)
        ]
        if not any(all(paid.get(name, 0) >= amount for name, amount in cost.items()) for cost in costs):
            raise Damaged(f"request {charge.request!r} was charged less than it costs: something else has written it")
        if not rule.fits(Usage.read(session, scope).used):
            raise Damaged(f"scope {scope.name!r} has spent more than its budget: something else has written to it")

    def _is_same_as_older(self, session: Session, entry: Entry, charge: Charge, asked: AmountLike) -> bool:
        """Whether an entry that an older version made is for this request, by all that it says of it."""
        scope = self._scope(session, charge.scope)
        costs = {charge.epsilon, scope.epsilon} if as_written(asked) == scope.written else {charge.epsilon}
        ours = (charge.question, charge.scope, charge.partition or None, charge.groups, charge.delta)
        question = _BACKQUOTED.sub(_double_quoted, entry.question)
        theirs = (question, entry.scope, entry.partition, entry.groups, entry.delta)
        return ours == theirs and entry.epsilon in costs

    def _granted(self, session: Session, charge: Charge, asked: AmountLike) -> Entry:
        scope = self._scope(session, charge.scope)
        if charge.partition and charge.partition not in stored_rows.partitions(session, scope.name):
            raise ParameterError(f"partition {charge.partition!r} is not declared: use add_partition first")
        charge, after = self._after(session, scope, charge, asked)
        return after.record(session, replace(charge, epsilon=after.cost["epsilon"]))

    def _after(self, session: Session, scope: Scope, charge: Charge, asked: Any) -> tuple[Charge, Usage]:
        """The charge in the terms of the scope, and what is used after it."""
        charge = self._in_terms_of(scope, charge, asked)
        usage = Usage.read(session, scope, charge.partition, charge.groups)
        return charge, self._checked(usage, rule_of(scope), scope, charge, asked)

    def _in_terms_of(self, scope: Scope, charge: Charge, asked: AmountLike) -> Charge:
        """The charge with its cost for those whom the scope protects."""
        owner = scope.protects
        if owner is None:
            if charge.protects is None:
                return charge
            raise undeclared(self._store.name, scope.name)
        # whoever does not say that each person keeps their own ε has one for everybody
        whom = replace(owner, epsilon_column=None, budgets=None) if charge.protects is None else charge.protects
        epsilon, delta = owner.cost_of(whom, asked, charge.delta)
        if (epsilon, delta) == (charge.epsilon, charge.delta):
            return charge
        return replace(charge, epsilon=epsilon, delta=delta, points=((epsilon, delta),))

    def _drawn(self, entry: Entry, draw: Callable[[], Any]) -> Entry | None:
        """The entry with the answer that is stored for it, this one or an earlier one; None if that failed."""
        text, state = _recordable(draw(), entry.room)
        try:
            with self._writing() as session:
                return stored_rows.add_answer(session, entry, text, state)
        except (NotCommitted, FileError):
            return None  # whatever failed: what can be seen must not depend on what was drawn

    def _checked(self, usage: Usage, rule: Rule, scope: Scope, charge: Charge, asked: AmountLike) -> Usage:
        """What is used after the charge, if that fits the budget."""
        same = charge.epsilon == cost_epsilon(asked)  # it was not converted
        whole = same and not usage.used["epsilon"] and as_written(asked) == scope.written
        for cost in rule.costs(charge.epsilon, charge.delta, charge.points):
            # the whole of a budget such as ln 3 in one charge: the same number, kept from below and charged from above.
            # Only in the plain sum, which is then used up: other amounts are added to, and stay rounded up
            after = usage.plus({**cost, "epsilon": scope.epsilon} if whole else cost)
            if rule.fits(after.used):
                return after
        left = rule.left(usage.used)
        raise BudgetExceeded(
            f"scope {scope.name!r}: not enough privacy is left. "
            f"ε: spent {shown(usage.used['epsilon'])}, asked {shown(charge.epsilon)}, "
            f"left {shown(left.epsilon)} of {scope.written}; "
            f"δ: spent {shown(usage.used['delta'])}, asked {shown(charge.delta)}, "
            f"left {shown(left.delta)} of {shown(scope.delta)}",
            *_hint(asked, charge.epsilon - left.epsilon),
            path=self._store.name,
            scope=scope.name,
            budget=Spending(scope.epsilon, scope.delta).to_dict(),
            spent=Spending(usage.used["epsilon"], usage.used["delta"]).to_dict(),
            asked=Spending(charge.epsilon, charge.delta).to_dict(),
            left=left.to_dict(),
        )

    def _scope(self, session: Session, name: str) -> Scope:
        found = stored_rows.find_scope(session, name_of(name, "scope"))
        if found is None:
            others = stored_rows.scopes(session)
            if name in others:
                raise Damaged("the ledger is damaged, an existing scope cannot be found: restore it from a copy")
            known = ", ".join(repr(other) for other in list(others)[:20])
            raise ParameterError(f"there is no scope {name!r}, only {known}", path=self._store.name)
        return found

    def _known(self, name: str) -> Scope | None:
        if not self._store.present():
            return None
        with self._reading() as session:
            return stored_rows.find_scope(session, name)

    def _found(self, scope: Scope) -> Scope | None:
        """Record a new scope, and the ledger with it if it is the first; return the one that is there already."""
        try:
            with self._founding() if scope.name == DEFAULT else self._writing() as session:
                if stored_rows.entry_count(session) is None:
                    stored_rows.set_entry_count(session, 0)
                known = stored_rows.find_scope(session, scope.name)
                if known is None:
                    stored_rows.add_scope(session, scope, user(None))
                return known
        except NotCommitted as error:
            raise FileError(
                f"{error}. It is not known whether the budget was recorded: try again", path=self._store.name
            ) from None

    def _require_same(self, known: Scope, wanted: Scope, *, compare_rule: bool) -> None:
        same = (known.written, known.delta) == (wanted.written, wanted.delta)
        if compare_rule:
            same = same and known.composition == wanted.composition
            same = same and all(known.details.get(name) == wanted.details.get(name) for name in ("slack", "plan"))
        if not same:
            raise ParameterError(
                f"scope {known.name!r} has another budget: ε = {known.written}, "
                f"δ = {shown(known.delta)}, composition {known.composition!r}; it cannot be changed. ",
                Way("Open the ledger without epsilon to use it", "Use it as it is, or make another with --scope"),
                "; as long as nothing was charged, ",
                Way("Ledger.lower", "tinct budget lower"),
                " lowers it",
                path=self._store.name,
            )

    # transactions

    @contextmanager
    def _founding(self) -> Iterator[Session]:
        with self._naming(), self._store.founding() as session:
            yield session

    @contextmanager
    def _writing(self) -> Iterator[Session]:
        with self._naming(), self._store.writing() as session:
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
            raise FileError(str(error), path=self._store.name) from None


def not_answered(request: str) -> NotAnswered:
    """The error for any failure after the charge: always the same sentence, so that it reveals nothing."""
    return NotAnswered(
        f"the request is charged, but its answer could not be completed. Ask again with the request id {request!r} to "
        "complete it without a further charge",
        request,
    )


def undeclared(ledger: str, scope: str) -> ParameterError:
    """The error for a scope without a declaration."""
    return ParameterError(
        f"scope {scope!r} comes from an older version of tinct, which did not record who is one person: its "
        "owner must declare it once, with tinct budget declare",
        path=ledger,
    )


def _protection(given: object) -> Protection:
    if not isinstance(given, Protection):
        raise ParameterError.of("protects", "a Protection, such as Protection(unit='person_id')", given)
    return given


def _recordable(answer: object, room: int) -> tuple[str, State]:
    """The JSON text of an answer, or that it is lost: to draw again because of what was drawn would not be private."""
    try:
        text = json.dumps(answer, allow_nan=False, separators=(",", ":"), ensure_ascii=False)
        json.loads(text)
        fits = len(text.encode()) <= room and "\0" not in text
    except (TypeError, ValueError, RecursionError):
        fits = False
    return (text, State.ANSWERED) if fits else ("", State.LOST)


def _hint(asked: AmountLike, short: Fraction) -> tuple[str | Parameter, ...]:
    """A word about floats, if the decimals that were meant might have fitted."""
    if not isinstance(asked, float) or not short < _NEARLY:
        return ()
    text = float.__repr__(asked)
    if Fraction(text) == asked:
        return ()
    return ". A float is not its decimal: write ", Parameter("epsilon", text), " as text"
