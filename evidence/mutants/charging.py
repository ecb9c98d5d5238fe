"""Mutants of the ledger: orders of operations, amounts, rules of composition, what is believed of a file."""

from __future__ import annotations

from evidence.mutants import Mutant

_TENTHS = ("test_ledger.py::test_ten_tenths_fill_one_exactly",)
_CHANGE = ("test_ledger.py::test_any_change_under_the_same_id_is_refused",)
_FILES = (
    "test_ledger_files.py::test_what_was_drawn_and_not_stored_is_read_by_nobody",
    "test_ledger_files.py::test_files_that_we_cannot_close_are_refused_before_the_charge",
)
_GROUPS = (
    "test_ledger.py::test_groups_of_a_partition_count_as_their_maximum",
    "test_ledger.py::test_a_group_may_spend_what_others_have_left",
)

_TRANSACTION = """\
with self._writing() as session:
    return self._known_request(...) or self._granted(...)
"""
_CHECK_OUTSIDE = """\
with self._reading() as session:
    scope = self._scope(session, charge.scope)
    usage = Usage.read(session, scope, charge.partition, charge.groups)
    after = self._checked(usage, rule_of(scope), scope, charge, epsilon)
with self._writing() as session:
    found = self._known_request(...)
    if found is None:
        found = replace(after, entries=stored_rows.entry_count(session) or 0).record(session, charge)
    return found
"""
_CHARGE = """\
entry = self.grant(...)
return self.answer(entry, draw)
"""
_DRAWN_FIRST = """\
drawn = draw()
entry = self.grant(...)
return self.answer(entry, lambda: drawn)
"""

MUTANTS = (
    Mutant(
        "the draw comes before the charge",
        "Ledger.charge",
        _CHARGE,
        _DRAWN_FIRST,
        ("test_ledger.py::test_over_budget_says_spent_asked_left_before_the_draw",),
    ),
    Mutant(
        "the check is made outside the transaction",
        "Ledger.grant",
        _TRANSACTION,
        _CHECK_OUTSIDE,
        ("test_ledger.py::test_races_grant_the_budget_exactly",),
    ),
    Mutant(
        "a retry is charged and drawn again",
        "Ledger.grant",
        "self._known_request(...) or ...",
        "self._granted(session, charge, epsilon)",
        ("test_ledger.py::test_a_request_is_drawn_once_and_charged_once",),
    ),
    Mutant(
        "another request under the same name gets the old answer",
        "Ledger._is_same",
        "digest == charge.digest",
        "True",
        _CHANGE,
    ),
    Mutant(
        "a budget can be changed",
        "Ledger._require_same",
        "(known.written, known.delta) == (wanted.written, wanted.delta)",
        "True",
        ("test_ledger.py::test_a_stored_budget_never_changes",),
    ),
    Mutant(
        "a partition need not be declared",
        "Ledger._granted",
        "charge.partition and charge.partition not in ...",
        "False",
        ("test_mutants.py::test_partitions_are_declared_before_they_are_used",),
    ),
    Mutant(
        "the commit is skipped",
        "SqliteStore._commit",
        'connection.execute("COMMIT")',
        'connection.execute("ROLLBACK")',
        _TENTHS,
    ),
    Mutant(
        "a failed commit is ignored and the answer shown",
        "SqliteStore._commit",
        "raise NotCommitted(...) from None",
        "del error",
        ("test_ledger.py::test_a_failed_commit_names_the_request_to_repeat",),
    ),
    Mutant(
        "commits do not wait for the disk",
        "sqlite",
        '"synchronous = FULL"',
        '"synchronous = OFF"',
        (
            "test_ledger.py::test_attacks_find_nothing[power_cuts-12]",
            "test_ledger.py::test_every_commit_waits_for_the_disk",
        ),
    ),
    Mutant(
        "transactions take the lock late",
        "sqlite",
        '"BEGIN IMMEDIATE"',
        '"BEGIN DEFERRED"',
        (
            "test_ledger.py::test_threads_share_a_ledger",
            "test_ledger.py::test_eight_processes_may_make_the_same_ledger",
            "test_ledger.py::test_races_grant_the_budget_exactly",
        ),
    ),
    Mutant(
        "triggers in the file are tolerated",
        "SqliteStore._require_tables",
        "{row[0] for row in rows} != set(_tables(tables))",
        "False",
        ("test_ledger.py::test_triggers_and_other_changes_are_noticed",),
    ),
    Mutant(
        "a budget may be exceeded by a billionth",
        "Basic.fits",
        'used["epsilon"] <= self.epsilon',
        'used["epsilon"] <= self.epsilon + _STEP',
        (
            "test_ledger.py::test_floats_are_exact_and_the_refusal_says_so",
            "test_mutants.py::test_a_budget_is_exceeded_by_the_least_amount",
        ),
    ),
    Mutant(
        "ε is compared as a float",
        "Basic.fits",
        'used["epsilon"] <= self.epsilon',
        'float(used["epsilon"]) <= float(self.epsilon)',
        ("test_mutants.py::test_a_budget_is_exceeded_by_the_least_amount",),
    ),
    Mutant(
        "δ is not checked",
        "Basic.fits",
        'used["epsilon"] <= self.epsilon and used["delta"] <= self.delta',
        'used["epsilon"] <= self.epsilon',
        (
            "test_ledger.py::test_over_budget_says_spent_asked_left_before_the_draw",
            "test_mutants.py::test_a_budget_is_exceeded_by_the_least_amount",
        ),
    ),
    Mutant(
        "the slack of advanced composition is spent twice",
        "Advanced.fits",
        'used["delta"] <= self.delta - self.slack',
        'used["delta"] <= self.delta',
        ("test_ledger.py::test_the_slack_is_kept_whatever_fits",),
    ),
    Mutant(
        "advanced composition forgets its correction",
        "Advanced.threshold",
        "self.epsilon - logarithm / order",
        "self.epsilon",
        ("test_ledger.py::test_the_advanced_filter_withstands_adaptive_costs",),
    ),
    Mutant(
        "advanced composition halves its costs",
        "order_cost",
        "(order + 1) * epsilon * epsilon / 2",
        "(order + 1) * epsilon * epsilon / 4",
        ("test_ledger.py::test_order_cost_is_the_divergence_of_randomized_response",),
    ),
    Mutant(
        "a plan may be used once more than planned",
        "Accounting.fits",
        "line.times",
        "line.times + 1",
        ("test_ledger.py::test_a_plan_is_granted_line_by_line",),
    ),
    Mutant(
        "an asker may raise the ε of the careful",
        "Protection._require_own_epsilon",
        "any(kept) if asked.budgets is not None else all(kept)",
        "any(kept)",
        ("test_protection.py::test_one_epsilon_for_everybody_is_at_most_the_smallest_that_was_declared",),
    ),
    Mutant(
        "personal budgets may be given away with a δ",
        "Protection._require_own_epsilon",
        "not cost_delta(delta) and (any(kept) if asked.budgets is not None else all(kept))",
        "any(kept) if asked.budgets is not None else all(kept)",
        ("test_protection.py::test_one_epsilon_for_everybody_is_at_most_the_smallest_that_was_declared",),
    ),
    Mutant(
        "an add-remove question counts once for a personal budget",
        "Protection._require_own_epsilon",
        "asked.neighbors != self.neighbors",
        "False",
        ("test_protection.py::test_one_epsilon_for_everybody_is_at_most_the_smallest_that_was_declared",),
    ),
    Mutant(
        "a charge that says nothing may be personal",
        "Ledger._in_terms_of",
        "replace(owner, epsilon_column=None, budgets=None)",
        "owner",
        ("test_protection.py::test_a_charge_by_hand_keeps_to_the_smallest_too",),
    ),
    Mutant(
        "a planned cost covers any δ",
        "_covers",
        "ours <= most and d <= least",
        "ours <= most",
        (
            "test_ledger.py::test_a_profile_counts_for_more_than_its_cost",
            "test_mutants.py::test_a_planned_cost_covers_no_larger_delta",
        ),
    ),
    Mutant(
        "a plan need not fit the budget",
        "Accounting.needs",
        "not needed <= float(self.delta)",
        "False",
        ("test_ledger.py::test_a_plan_that_needs_more_than_the_budget_is_refused",),
    ),
    Mutant(
        "a logarithm costs less than it is",
        "cost_epsilon",
        "ln_above(...)",
        "ln_below(...)",
        ("test_ledger.py::test_a_logarithm_costs_more_and_grants_less",),
    ),
    Mutant(
        "a long cost is rounded down",
        "cost_epsilon",
        "rounded_up(...)",
        "rounded_down(...)",
        ("test_mutants.py::test_long_costs_are_rounded_up_and_long_budgets_down",),
    ),
    Mutant(
        "a long δ is rounded down",
        "cost_delta",
        "rounded_up(...)",
        "rounded_down(...)",
        ("test_mutants.py::test_long_costs_are_rounded_up_and_long_budgets_down",),
    ),
    Mutant(
        "a logarithm grants more than it is",
        "budget_epsilon",
        "ln_below(...)",
        "ln_above(...)",
        ("test_ledger.py::test_a_logarithm_costs_more_and_grants_less",),
    ),
    Mutant(
        "a bound of a logarithm is guessed, not proved",
        "ln_above",
        "exp_below(bound, _BITS) < value",
        "False",
        ("test_ledger.py::test_bounds_of_logarithms_are_proved_by_series",),
    ),
    Mutant("the cheapest group of a partition counts", "highest", "max(...)", "min(...)", _GROUPS),
    Mutant(
        "partitions do not count at all", "Usage.used", "self.peaks.values()", "[self.peaks.get(NOBODY, {})]", _GROUPS
    ),
    Mutant(
        "totals are not stored",
        "Usage.record",
        "{NOBODY: self.peaks[self.partition], **self.groups}",
        "{**self.groups}",
        _TENTHS,
    ),
    Mutant(
        "long sums are rounded down",
        "_tidy",
        "rounded_up(amount)",
        "Fraction(amount.numerator * 10**60 // amount.denominator, 10**60)",
        ("test_ledger.py::test_sums_of_awkward_denominators_stay_short_and_never_shrink",),
    ),
    Mutant(
        "the cost is no part of a request's digest",
        "checked_charge",
        "exact_text(cost[0])",
        '""',
        ("test_mutants.py::test_another_cost_is_another_request",),
    ),
    Mutant(
        "the question is no part of a request's digest",
        "checked_charge",
        'text_of(question, "question")',
        '""',
        _CHANGE,
    ),
    Mutant(
        "what the caller adds is no part of a request's digest",
        "checked_charge",
        '"" if digest is None else name_of(digest, "digest")',
        '""',
        _CHANGE,
    ),
    Mutant(
        "checksums are not looked at",
        "checked",
        "checksum(*row[:-1]) != row[-1]",
        "False",
        ("test_ledger.py::test_rows_that_were_edited_are_noticed",),
    ),
    Mutant(
        "a lost total counts as nothing spent",
        "entry_count",
        "rows and rows[0][2] != _seal(session)",
        "False",
        ("test_ledger.py::test_rows_that_were_edited_are_noticed", "test_mutants.py::test_a_deleted_total_is_damage"),
    ),
    Mutant(
        "an amount in text passes through a float",
        "amounts._capped",
        "Fraction(text)",
        "Fraction(float(text))",
        _TENTHS,
    ),
    Mutant("a ledger can be read by everybody", "ledger.sqlite", "0o600", "0o644", _FILES),
    Mutant(
        "files that others can read are no reason to refuse",
        "SqliteStore._require_private",
        "_whats_open(self._path)",
        '""',
        _FILES,
    ),
    Mutant(
        "a log that others have opened goes on",
        "SqliteStore._close_to_readers",
        "_has_open_log(self._path)",
        "os.chmod(f'{self._path}-wal', 0o600)",
        ("test_ledger_files.py::test_a_log_that_others_have_opened_is_replaced_before_a_charge",),
    ),
    Mutant(
        "the ledger is opened to look at it",
        "SqliteStore._require_file",
        "stat.S_ISDIR(state.st_mode)",
        'open(self._path, "rb").close() or stat.S_ISDIR(state.st_mode)',
        ("test_ledger_files.py::test_to_look_at_a_ledger_ends_no_lock_of_another_thread",),
    ),
)
