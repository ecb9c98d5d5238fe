"""Mutants of ask: what is charged, what is divided, what is public."""

from __future__ import annotations

from evidence.mutants import Mutant

_LEDGER = ("test_asking.py::test_a_ledger_is_charged_once_and_remembers",)
_BAD = ("test_asking.py::test_bad_requests_are_refused_before_anything_is_drawn",)
_SHARES = ("test_mutants.py::test_finding_groups_and_answering_share_one_budget",)

_CHARGE = """\
charge = granted(...)
entry = completed(book, charge, ready.draw)
"""
_DRAWN_FIRST = """\
drawn = ready.draw()
charge = granted(...)
entry = completed(book, charge, lambda: drawn)
"""
_PLAN = """\
asked.require_numbers()
with _opened(...) as source:
    ...
"""
_COUNTING_PLAN = """\
with _opened(...) as source:
    asked = asked.in_numbers(source)
    ...
"""

MUTANTS = (
    Mutant(
        "an answer costs nothing",
        "_single",
        "(privacy.exact_epsilon, privacy.exact_delta)",
        "(0, Fraction(0))",
        _LEDGER,
    ),
    Mutant(
        "declared groups are taken as they are",
        "Groups.of",
        "group_names(groups, by)",
        "tuple(groups)",
        ("test_before_the_charge.py::test_spark_too_refuses_names_of_groups_before_the_charge",),
    ),
    Mutant(
        "the groups are not checked before the charge",
        "Source.check",
        "_plan(what, where, unit, by, groups)",
        "_plan(what, where, unit, by, None)",
        ("test_before_the_charge.py::test_names_of_groups_are_checked_before_a_row_is_counted",),
    ),
    Mutant("an answer costs half", "with_ledger._facts", "ready.cost[0]", "float(ready.cost[0]) / 2", _LEDGER),
    Mutant(
        "δ is not charged", "with_ledger._facts", "ready.cost[1]", "0", ("test_mutants.py::test_delta_is_charged_too",)
    ),
    Mutant(
        "ask draws before it charges",
        "charged",
        _CHARGE,
        _DRAWN_FIRST,
        ("test_mutants.py::test_over_budget_no_dice_are_touched",),
    ),
    Mutant(
        "the plan is no part of a request",
        "with_ledger._facts",
        "checksum(identity)",
        "None",
        ("test_mutants.py::test_another_plan_is_another_request",),
    ),
    Mutant(
        "declared groups are no part of a request",
        "Groups.identity",
        "list(self.declared)",
        "[]",
        ("test_asking.py::test_other_groups_are_another_request",),
    ),
    Mutant(
        "the ledger does not record a condition",
        "_record",
        "asked.where",
        "None",
        ("test_asking.py::test_the_ledger_records_all_that_was_asked",),
    ),
    Mutant("the ledger is left out", "ask", "if book is None: ...", "if True: ...", _LEDGER),
    Mutant(
        "groups are answered although people may change group",
        "read_request",
        "by is not None and relation == Neighbors.REPLACE",
        "False",
        _BAD,
    ),
    Mutant(
        "a plan counts what it was not told",
        "plan",
        _PLAN,
        _COUNTING_PLAN,
        ("test_protection.py::test_plans_read_no_row",),
    ),
    Mutant(
        "who is one person is for the asker to say",
        "Protection._require_agreement",
        "asked.unit != self.unit",
        "False",
        ("test_protection.py::test_who_is_a_person_is_for_the_owner_to_say",),
    ),
    Mutant(
        "add-remove costs the same on a replace budget",
        "Protection.cost_of",
        "2 * cost[0], cost[1]",
        "cost",
        ("test_protection.py::test_the_worst_pair_over_mixed_charges_stays_within_the_budget",),
    ),
    Mutant(
        "replace is charged to an add-remove budget",
        "Protection.require_relation",
        "asked != self.neighbors and self.neighbors == Neighbors.ADD_REMOVE",
        "False",
        ("test_protection.py::test_who_is_a_person_is_for_the_owner_to_say",),
    ),
    Mutant(
        "what fails after the charge is told as it is",
        "completed",
        "failure = not_answered(entry.request)",
        "raise",
        ("test_asking.py::test_what_fails_after_the_charge_says_one_sentence_and_is_completed_by_a_retry",),
    ),
    Mutant(
        "labels that steer a terminal are shown",
        "is_showable",
        "len(label.encode()) <= MAX_LABEL and label.isprintable()",
        "len(label.encode()) <= MAX_LABEL",
        ("test_asking.py::test_a_label_that_is_found_cannot_spoil_the_answer",),
    ),
    Mutant(
        "ε is spent in full on finding groups and again on answers",
        "Groups.of",
        "total * (1 - share)",
        "total",
        ("test_asking.py::test_found_groups_are_large_and_cost_their_share",),
    ),
    Mutant(
        "δ is spent on finding groups and again on answers",
        "Groups.of",
        "Privacy(Amount(total * (1 - share)))",
        "Privacy(Amount(total * (1 - share)), privacy.exact_delta)",
        _SHARES,
    ),
    Mutant(
        "a logarithm is divided as a float",
        "_rational_epsilon",
        "ln_below(amount.value)",
        'rational(float(amount), "epsilon")',
        _SHARES,
    ),
    Mutant(
        "a person counts twice when groups are found",
        "Groups.selected",
        "counts.classes.sum(axis=1) + counts.missing",
        "2 * (counts.classes.sum(axis=1) + counts.missing)",
        ("test_mutants.py::test_groups_of_one_are_shown_with_probability_delta",),
    ),
    Mutant(
        "groups are all shown",
        "Groups.selected",
        "show and is_showable(label)",
        "True or (show and is_showable(label))",
        ("test_asking.py::test_found_groups_are_large_and_cost_their_share",),
    ),
    Mutant(
        "exists may say yes about nobody",
        "YesNoDesign._offset",
        "1 if self.line.selection else 0",
        "2 if self.line.selection else 0",
        ("test_mutants.py::test_exists_never_says_yes_about_nobody",),
    ),
    Mutant(
        "a mode is answered for the wrong neighbours",
        "design",
        "mode_mechanism(..., ..., neighbors=neighbors, n=n, missing=..., progress=...)",
        'mode_mechanism(..., ..., neighbors="add-remove", n=None, missing=..., progress=...)',
        ("test_mutants.py::test_modes_keep_the_budget_of_their_neighbours",),
    ),
    Mutant(
        "a mode takes everybody to be in a category",
        "design",
        'neighbors == "replace" and ...',
        "False",
        (
            "test_asking.py::test_mode_counts_whoever_is_looked_at",
            "test_mutants.py::test_modes_keep_the_budget_of_their_neighbours",
        ),
    ),
    Mutant(
        "the smallest of personal budgets is charged",
        "PersonalBudgets.largest",
        "self.budgets[-1]",
        "self.budgets[0]",
        ("test_asking.py::test_personal_budgets_are_certified_edge_by_edge",),
    ),
    Mutant(
        "everybody gets the largest of personal budgets",
        "PersonalBudgets.design",
        "graphs.personalized(box, kept)",
        "graphs.personalized(box, [kept[-1]] * len(kept))",
        ("test_mutants.py::test_everybody_keeps_their_own_budget",),
    ),
    Mutant(
        "personal budgets with replace only are asked for groups",
        "PersonalBudgets.of",
        'neighbors != "replace" or by is not None',
        "False",
        _BAD,
    ),
    Mutant(
        "a condition shapes the public sizes of classes",
        "PersonalBudgets.position",
        "source.count_by(self._counted(where), self.column, unit=..., groups=..., listed=True)",
        "source.count_by(self.question, self.column, where=where, unit=..., groups=..., listed=True)",
        ("test_mutants.py::test_a_condition_moves_nobody_to_a_larger_budget",),
    ),
)
