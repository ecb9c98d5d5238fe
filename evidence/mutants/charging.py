"""Mutants of the ledger: orders of operations, amounts, rules of composition, what is believed of a file."""

from __future__ import annotations

from evidence.mutants import Mutant

_BOOK, _SQLITE, _RULES, _AMOUNTS = "ledger/book.py", "ledger/sqlite.py", "ledger/composition.py", "ledger/amounts.py"
_USAGE, _REQUESTS, _RECORDS = "ledger/usage.py", "ledger/requests.py", "ledger/records.py"
_TENTHS = ("test_ledger.py::test_ten_tenths_fill_one_exactly",)
_CHANGE = ("test_ledger.py::test_any_change_under_the_same_id_is_refused",)
_GROUPS = (
    "test_ledger.py::test_groups_of_a_partition_count_as_their_maximum",
    "test_ledger.py::test_a_group_may_spend_what_others_have_left",
)

_TRANSACTION = """\
            with self._writing() as session:
                return self._settled(session, charge) or self._granted(session, charge, draw, epsilon)
"""
_CHECK_OUTSIDE = """\
            with self._reading() as session:
                scope = self._scope(session, charge.scope)
                usage = Usage.read(session, scope, charge.partition, charge.groups)
                after = self._checked(usage, rule_of(scope), scope, charge, epsilon)
                answer = _recordable(draw())
            with self._writing() as session:
                found = self._settled(session, charge)
                if found is None:
                    found = replace(after, entries=records.entry_count(session) or 0).record(session, charge, answer)
                return found
"""
_CHECK_THEN_DRAW = """\
        after = self._checked(usage, rule, scope, charge, asked)
        answer = _recordable(draw())
"""
_DRAW_THEN_CHECK = """\
        answer = _recordable(draw())
        after = self._checked(usage, rule, scope, charge, asked)
"""
_COMMIT_FAILS = """\
            _roll_back(connection)
            raise NotCommitted(f"{self.name}: {self._reason(_code(error))}") from None
"""
_COMMIT_IGNORED = """\
            _roll_back(connection)
            del error
"""

MUTANTS = (
    Mutant(
        "the draw comes before the check",
        _BOOK,
        _CHECK_THEN_DRAW,
        _DRAW_THEN_CHECK,
        ("test_ledger.py::test_over_budget_says_spent_asked_left_before_the_draw",),
    ),
    Mutant(
        "the check is made outside the transaction",
        _BOOK,
        _TRANSACTION,
        _CHECK_OUTSIDE,
        ("test_ledger.py::test_races_grant_the_budget_exactly",),
    ),
    Mutant(
        "a retry is charged and drawn again",
        _BOOK,
        "return self._settled(session, charge) or self._granted(session, charge, draw, epsilon)",
        "return self._granted(session, charge, draw, epsilon)",
        ("test_ledger.py::test_a_request_is_drawn_once_and_charged_once",),
    ),
    Mutant(
        "another request under the same name gets the old answer",
        _BOOK,
        "        if digest != charge.digest:\n",
        "        if False:\n",
        _CHANGE,
    ),
    Mutant(
        "a budget can be changed",
        _BOOK,
        "        if not same:\n",
        "        if False:\n",
        ("test_ledger.py::test_a_stored_budget_never_changes",),
    ),
    Mutant(
        "a partition need not be declared",
        _BOOK,
        "if charge.partition and charge.partition not in records.partitions(session, scope.name):",
        "if False:",
        ("test_mutants.py::test_partitions_are_declared_before_they_are_used",),
    ),
    Mutant(
        "the commit is skipped",
        _SQLITE,
        'connection.execute("COMMIT")',
        'connection.execute("ROLLBACK")',
        _TENTHS,
    ),
    Mutant(
        "a failed commit is ignored and the answer shown",
        _SQLITE,
        _COMMIT_FAILS,
        _COMMIT_IGNORED,
        ("test_ledger.py::test_a_failed_commit_names_the_request_to_repeat",),
    ),
    Mutant(
        "commits do not wait for the disk",
        _SQLITE,
        '"synchronous = FULL"',
        '"synchronous = OFF"',
        (
            "test_ledger.py::test_attacks_find_nothing[power_cuts-12]",
            "test_ledger.py::test_every_commit_waits_for_the_disk",
        ),
    ),
    Mutant(
        "transactions take the lock late",
        _SQLITE,
        '_READ, _WRITE = "BEGIN", "BEGIN IMMEDIATE"',
        '_READ, _WRITE = "BEGIN", "BEGIN DEFERRED"',
        (
            "test_ledger.py::test_threads_share_a_ledger",
            "test_ledger.py::test_eight_processes_may_make_the_same_ledger",
            "test_ledger.py::test_races_grant_the_budget_exactly",
        ),
    ),
    Mutant(
        "triggers in the file are tolerated",
        _SQLITE,
        "if schema != SCHEMA or {row[0] for row in rows} != set(_tables()):",
        "if schema != SCHEMA:",
        ("test_ledger.py::test_triggers_and_other_changes_are_noticed",),
    ),
    Mutant(
        "a budget may be exceeded by a billionth",
        _RULES,
        'return used["epsilon"] <= self.epsilon and',
        'return used["epsilon"] <= self.epsilon + _STEP and',
        (
            "test_ledger.py::test_floats_are_exact_and_the_refusal_says_so",
            "test_mutants.py::test_a_budget_is_exceeded_by_the_least_amount",
        ),
    ),
    Mutant(
        "ε is compared as a float",
        _RULES,
        'return used["epsilon"] <= self.epsilon and',
        'return float(used["epsilon"]) <= float(self.epsilon) and',
        ("test_mutants.py::test_a_budget_is_exceeded_by_the_least_amount",),
    ),
    Mutant(
        "δ is not checked",
        _RULES,
        ' and used["delta"] <= self.delta\n',
        "\n",
        (
            "test_ledger.py::test_over_budget_says_spent_asked_left_before_the_draw",
            "test_mutants.py::test_a_budget_is_exceeded_by_the_least_amount",
        ),
    ),
    Mutant(
        "the slack of advanced composition is spent twice",
        _RULES,
        'return enough and used["delta"] <= self.delta - self.slack',
        'return enough and used["delta"] <= self.delta',
        ("test_ledger.py::test_the_slack_is_kept_whatever_fits",),
    ),
    Mutant(
        "advanced composition forgets its correction",
        _RULES,
        "return self.epsilon - logarithm / order",
        "return self.epsilon",
        ("test_ledger.py::test_the_advanced_filter_withstands_adaptive_costs",),
    ),
    Mutant(
        "advanced composition halves its costs",
        _RULES,
        "simple = min(epsilon, (order + 1) * epsilon * epsilon / 2)",
        "simple = min(epsilon, (order + 1) * epsilon * epsilon / 4)",
        ("test_ledger.py::test_order_cost_is_the_divergence_of_randomized_response",),
    ),
    Mutant(
        "a plan may be used once more than planned",
        "ledger/accounting.py",
        "used.get(_key(number), 0) <= line.times for",
        "used.get(_key(number), 0) <= line.times + 1 for",
        ("test_ledger.py::test_a_plan_is_granted_line_by_line",),
    ),
    Mutant(
        "a planned cost covers any δ",
        "ledger/accounting.py",
        "any(ours <= most and d <= least for ours, d in points)",
        "any(ours <= most for ours, d in points)",
        (
            "test_ledger.py::test_a_profile_counts_for_more_than_its_cost",
            "test_mutants.py::test_a_planned_cost_covers_no_larger_delta",
        ),
    ),
    Mutant(
        "a plan need not fit the budget",
        "ledger/accounting.py",
        "        if not needed <= float(self.delta):\n",
        "        if False:\n",
        ("test_ledger.py::test_a_plan_that_needs_more_than_the_budget_is_refused",),
    ),
    Mutant(
        "a logarithm costs less than it is",
        _AMOUNTS,
        "return ln_above(amount.value) if amount.is_log else rounded_up(amount.value)",
        "return ln_below(amount.value) if amount.is_log else rounded_up(amount.value)",
        ("test_ledger.py::test_a_logarithm_costs_more_and_grants_less",),
    ),
    Mutant(
        "a long cost is rounded down",
        _AMOUNTS,
        "return ln_above(amount.value) if amount.is_log else rounded_up(amount.value)",
        "return ln_above(amount.value) if amount.is_log else rounded_down(amount.value)",
        ("test_mutants.py::test_long_costs_are_rounded_up_and_long_budgets_down",),
    ),
    Mutant(
        "a long δ is rounded down",
        _AMOUNTS,
        '    return rounded_up(_delta(given, "delta"))',
        '    return rounded_down(_delta(given, "delta"))',
        ("test_mutants.py::test_long_costs_are_rounded_up_and_long_budgets_down",),
    ),
    Mutant(
        "a logarithm grants more than it is",
        _AMOUNTS,
        "lower = ln_below(amount.value)",
        "lower = ln_above(amount.value)",
        ("test_ledger.py::test_a_logarithm_costs_more_and_grants_less",),
    ),
    Mutant(
        "a bound of a logarithm is guessed, not proved",
        _AMOUNTS,
        "    while exp_below(bound, _BITS) < value:\n",
        "    while False:\n",
        ("test_ledger.py::test_bounds_of_logarithms_are_proved_by_series",),
    ),
    Mutant(
        "the cheapest group of a partition counts",
        _USAGE,
        "return {name: max(total.get(name, _ZERO), other.get(name, _ZERO))",
        "return {name: min(total.get(name, _ZERO), other.get(name, _ZERO))",
        _GROUPS,
    ),
    Mutant(
        "partitions do not count at all",
        _USAGE,
        "for peak in self.peaks.values():",
        "for peak in [self.peaks.get(NOBODY, {})]:",
        _GROUPS,
    ),
    Mutant(
        "totals are not stored",
        _USAGE,
        "        records.set_total(session, self.scope, self.partition, NOBODY, self.peaks[self.partition])\n",
        "",
        _TENTHS,
    ),
    Mutant(
        "long sums are rounded down",
        _USAGE,
        "else rounded_up(amount)",
        "else Fraction(amount.numerator * 10**60 // amount.denominator, 10**60)",
        ("test_ledger.py::test_sums_of_awkward_denominators_stay_short_and_never_shrink",),
    ),
    Mutant(
        "the cost is no part of a request's digest",
        _REQUESTS,
        '        "epsilon": exact_text(cost[0]),\n',
        "",
        ("test_mutants.py::test_another_cost_is_another_request",),
    ),
    Mutant(
        "the question is no part of a request's digest",
        _REQUESTS,
        '        "question": text_of(question, "question"),\n',
        "",
        _CHANGE,
    ),
    Mutant(
        "what the caller adds is no part of a request's digest",
        _REQUESTS,
        '"digest": "" if digest is None else name_of(digest, "digest"),',
        '"digest": "",',
        _CHANGE,
    ),
    Mutant(
        "checksums are not looked at",
        _RECORDS,
        "        if checksum(*row[:-1]) != row[-1]:\n",
        "        if False:\n",
        ("test_ledger.py::test_rows_that_were_edited_are_noticed",),
    ),
    Mutant(
        "a lost total counts as nothing spent",
        _RECORDS,
        "    if rows and rows[0][2] != _seal(session):\n",
        "    if False:\n",
        ("test_ledger.py::test_rows_that_were_edited_are_noticed", "test_mutants.py::test_a_deleted_total_is_damage"),
    ),
    Mutant(
        "an amount in text passes through a float",
        "privacy/amounts.py",
        "    return Fraction(text)\n",
        "    return Fraction(float(text))\n",
        _TENTHS,
    ),
)
