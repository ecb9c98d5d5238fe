"""Mutants of ask: what is charged, what is divided, what is public."""

from __future__ import annotations

from evidence.mutants import Mutant

_ASKING, _CHARGING, _GROUPS, _DESIGNS, _PERSONAL = (
    "asking/asking.py",
    "asking/charging.py",
    "asking/groups.py",
    "asking/designs.py",
    "asking/personal.py",
)
_LEDGER = ("test_asking.py::test_a_ledger_is_charged_once_and_remembers",)
_BAD = ("test_asking.py::test_bad_requests_are_refused_before_anything_is_drawn",)
_SHARES = ("test_mutants.py::test_finding_groups_and_answering_share_one_budget",)

_CHARGE = """\
    entry = book.charge(
        draw,"""
_DRAWN_FIRST = """\
    shown = draw()
    entry = book.charge(
        lambda: shown,"""

MUTANTS = (
    Mutant(
        "an answer costs nothing",
        _ASKING,
        "else (privacy.exact_epsilon, privacy.exact_delta)\n",
        "else (0, Fraction(0))\n",
        _LEDGER,
    ),
    Mutant(
        "an answer costs half",
        _CHARGING,
        "epsilon=cost[0]",
        "epsilon=float(cost[0]) / 2",
        _LEDGER,
    ),
    Mutant(
        "δ is not charged",
        _CHARGING,
        "delta=cost[1]",
        "delta=0",
        ("test_mutants.py::test_delta_is_charged_too",),
    ),
    Mutant(
        "the draw comes before the charge",
        _CHARGING,
        _CHARGE,
        _DRAWN_FIRST,
        ("test_mutants.py::test_over_budget_no_dice_are_touched",),
    ),
    Mutant(
        "the plan is no part of a request",
        _CHARGING,
        "digest=_digest(plan)",
        "digest=None",
        ("test_mutants.py::test_another_plan_is_another_request",),
    ),
    Mutant(
        "declared groups are no part of a plan",
        _GROUPS,
        "for each of {listed}, also",
        "for each of them, also",
        ("test_asking.py::test_other_groups_are_another_request",),
    ),
    Mutant(
        "the ledger does not record a condition",
        _ASKING,
        'given = {"where": asked.where, "by"',
        'given = {"by"',
        ("test_asking.py::test_the_ledger_records_all_that_was_asked",),
    ),
    Mutant(
        "the ledger is left out",
        _CHARGING,
        "    if ledger is None:\n",
        "    if True:\n        request = None\n",
        _LEDGER,
    ),
    Mutant(
        "groups are answered although people may change group",
        _ASKING,
        "        if by is not None and neighbors == REPLACE:\n",
        "        if False:\n",
        _BAD,
    ),
    Mutant(
        "the secret number of people reaches the design",
        _ASKING,
        "n = counts.rows if asked.neighbors == REPLACE else None",
        "n = counts.rows",
        _LEDGER,
    ),
    Mutant(
        "ε is spent in full on finding groups and again on answers",
        _GROUPS,
        "Privacy(Amount(total * share), privacy.exact_delta), Privacy(Amount(total * (1 - share)))",
        "Privacy(Amount(total), privacy.exact_delta), Privacy(Amount(total))",
        ("test_asking.py::test_found_groups_are_large_and_cost_their_share",),
    ),
    Mutant(
        "δ is spent on finding groups and again on answers",
        _GROUPS,
        "Privacy(Amount(total * (1 - share)))",
        "Privacy(Amount(total * (1 - share)), privacy.exact_delta)",
        _SHARES,
    ),
    Mutant(
        "a logarithm is divided as a float",
        _GROUPS,
        "return ln_below(amount.value) if amount.is_log else amount.value",
        'return rational(float(amount), "epsilon") if amount.is_log else amount.value',
        _SHARES,
    ),
    Mutant(
        "a person counts twice when groups are found",
        _GROUPS,
        "people = counts.classes.sum(axis=1) + counts.missing",
        "people = 2 * (counts.classes.sum(axis=1) + counts.missing)",
        ("test_mutants.py::test_groups_of_one_are_shown_with_probability_delta",),
    ),
    Mutant(
        "groups are all shown",
        _GROUPS,
        "        if self.selecting is not None:\n            people",
        "        if False:\n            people",
        ("test_asking.py::test_found_groups_are_large_and_cost_their_share",),
    ),
    Mutant(
        "exists may say yes about nobody",
        _DESIGNS,
        "return 1 if self.line.selection else 0",
        "return 2 if self.line.selection else 0",
        ("test_mutants.py::test_exists_never_says_yes_about_nobody",),
    ),
    Mutant(
        "a mode is answered for the wrong neighbours",
        _DESIGNS,
        "            neighbors=neighbors,\n            n=n,\n",
        '            neighbors="add-remove",\n            n=None,\n',
        ("test_mutants.py::test_modes_keep_the_budget_of_their_neighbours",),
    ),
    Mutant(
        "a mode takes everybody to be in a category",
        _DESIGNS,
        'missing = neighbors == "replace" and (partial or question.rest is None)',
        "missing = False",
        (
            "test_asking.py::test_mode_counts_whoever_is_looked_at",
            "test_mutants.py::test_modes_keep_the_budget_of_their_neighbours",
        ),
    ),
    Mutant(
        "the smallest of personal budgets is charged",
        _PERSONAL,
        "return self.budgets[-1].exact_epsilon",
        "return self.budgets[0].exact_epsilon",
        ("test_asking.py::test_personal_budgets_are_certified_edge_by_edge",),
    ),
    Mutant(
        "everybody gets the largest of personal budgets",
        _PERSONAL,
        "graphs.personalized(box, kept)",
        "graphs.personalized(box, [kept[-1]] * len(kept))",
        ("test_mutants.py::test_everybody_keeps_their_own_budget",),
    ),
    Mutant(
        "personal budgets with replace only are asked for groups",
        _PERSONAL,
        'if neighbors != "replace" or by is not None:',
        "if False:",
        _BAD,
    ),
    Mutant(
        "a condition shapes the public sizes of classes",
        _PERSONAL,
        "source.count_by(self._counted(where), self.column, unit=unit,",
        "source.count_by(self.question, self.column, where=where, unit=unit,",
        ("test_mutants.py::test_conditions_do_not_shape_public_numbers",),
    ),
)
