"""One person in several groups: who counts where, by a slow twin; and privacy by enumeration."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tinct import Ledger, ParameterError, Privacy, Protection, ask, sources
from tinct.asking import plan
from tinct.asking.designs import design
from tinct.asking.groups import Groups
from tinct.exact import ray
from tinct.questions import exists, majority, mode, threshold

YEARS = ("2021", "2022", "2023")


# who counts where


def panel(seed, count=80):
    """Rows of few people in many groups, some without a name, a group or an answer."""
    dice = random.Random(seed)
    choices = {
        "person": ["p1", "p2", "p3", "p4", None],
        "year": [*YEARS, "20,21", "a\\b", None],
        "ward": ["N", "S", "1.0", "1", "Ä", None],
        "say": [True, False, None],
        "kind": ["a", "b", "c", None],
        "let": [True, True, False, None],
    }
    return [{name: dice.choice(values) for name, values in choices.items()} for _ in range(count)]


def table(rows):
    """The rows as an Arrow table."""
    names = ("person", "year", "ward", "say", "kind", "let")
    types = {name: pa.bool_() if name in ("say", "let") else pa.string() for name in names}
    return pa.table({name: pa.array([row[name] for row in rows], types[name]) for name in names})


def label_of(row, by):
    """The label of a row's group; None if one of its values is missing."""
    parts = [row[name] for name in by]
    if None in parts:
        return None
    whole = ["1" if part == "1.0" else part for part in parts]
    if len(by) == 1:
        return whole[0]
    return ",".join(part.replace("\\", "\\\\").replace(",", "\\,") for part in whole)


def counted(rows, by, place, each, *, scoped=False, groups=None):
    """For each group how many people are in each of two classes and in none; a person in the first ``each`` groups."""
    people = {}
    for row in rows:
        label = label_of(row, by)
        inside = (not scoped or row["let"] is True) and label is not None and (groups is None or label in groups)
        if row["person"] is not None and inside:
            people.setdefault(row["person"], {}).setdefault(label, []).append(place(row))
    found = {}
    for own in people.values():
        for label in sorted(own)[:each]:
            classes = [at for at in own[label] if at is not None]
            found.setdefault(label, [0, 0, 0])[min(classes, default=2)] += 1
    return found


QUESTIONS = (
    (majority("say"), lambda row: {True: 0, False: 1}.get(row["say"])),
    (mode("kind", ["b", "a"]), lambda row: {"b": 0, "a": 1}.get(row["kind"])),
)


def require_first_groups(source, rows, seed):
    """A source counts each person in their first groups, and in no other."""
    for question, place in QUESTIONS:
        for by, groups in ((("year",), None), (("year",), ("2023", "2021", "x")), (("year", "ward"), None)):
            for each, scoped in itertools.product((1, 2, 3, 50), (False, True)):
                batches = list(
                    source.group_batches(
                        question, by, unit="person", groups=groups, per_person=each, where="let" if scoped else None
                    )
                )
                found = {
                    label: [*classes, missing]
                    for batch in batches
                    for label, classes, missing in zip(
                        batch.labels, batch.classes.tolist(), batch.missing.tolist(), strict=True
                    )
                }
                expected = counted(rows, by, place, each, scoped=scoped, groups=groups)
                if groups is not None:
                    expected = {label: expected.get(label, [0, 0, 0]) for label in groups}
                assert found == expected, (str(question), by, groups, each, scoped, seed)
                assert groups is not None or list(found) == sorted(expected)


@pytest.mark.parametrize("seed", range(6))
def test_a_person_counts_in_the_first_groups(seed, tmp_path):
    """DuckDB on Arrow and on Parquet, as the slow twin says; Spark in test_spark.py."""
    rows = panel(seed, 20 * seed)
    pq.write_table(table(rows), tmp_path / "rows.parquet")
    for data in (table(rows), tmp_path / "rows.parquet"):
        with sources.open(data) as source:
            require_first_groups(source, rows, seed)


def test_a_person_counts_in_the_first_groups_on_a_server(database):
    """PostgreSQL sorts by the bytes, whatever its collation."""
    import psycopg

    rows = panel("server", 120)
    with psycopg.connect(database, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE panel (person text, year text, ward text, say bool, kind text, let bool)")
        with cursor.copy("COPY panel FROM STDIN") as copy:
            for row in rows:
                copy.write_row(list(row.values()))
    with sources.open(f"{database}#panel") as source:
        require_first_groups(source, rows, "server")


# privacy, by enumeration


def chance(certified, position):
    """The probabilities of a certified row as fractions."""
    at = int(certified.positions([position])[0])
    return [Fraction(int(units), certified.denominator) for units in certified.numerators[at]]


class Published:
    """The joint distribution of what is published about all groups, given who says what in which year."""

    def __init__(self, question, groups):
        self.made = design(question, groups.answering, "add-remove", None)
        self.finding = None if groups.selecting is None else ray(groups.selecting, (True, False))
        self.known = {}

    def of_group(self, counts):
        """The distribution for one group: nothing, or an answer."""
        if counts not in self.known:
            yes, no = counts
            offset = 1 if self.made.line.selection else 0
            said = chance(self.made.certified, int(self.made.line.positions(np.array([[yes, no]]))[0]) + offset)
            if self.finding is not None:
                shown, hidden = chance(self.finding, yes + no)
                said = [hidden, *(shown * each for each in said)]
            self.known[counts] = said
        return self.known[counts]

    def of(self, people, each):
        """Groups are answered independently, given their counts; a person counts in the first ``each``."""
        counts = [[0, 0] for _ in YEARS]
        for own in people:
            for year in [at for at, say in enumerate(own) if say is not None][:each]:
                counts[year][own[year]] += 1
        parts = [self.of_group(tuple(pair)) for pair in counts]
        return [math.prod(outcome) for outcome in itertools.product(*parts)]


def beyond(one, other, growth):
    """The most by which any event is likelier than E times as likely: of all events, the one of these outcomes."""
    return sum(max(p - growth * q, 0) for p, q in zip(map(float, one), map(float, other), strict=True))


PROFILES = list(itertools.product((None, 0, 1), repeat=len(YEARS)))  # in each year: no row, a yes, a no


@pytest.mark.parametrize("each", [1, 2, 3])
@pytest.mark.parametrize("declared", [True, False])
@pytest.mark.parametrize(
    ("question", "epsilon", "delta"),
    [
        (majority("say"), "1", "1/10"),
        (majority("say"), "ln 3", "1/1000"),
        (threshold("say", at_least=2), "1", "1/10"),
        (exists("say"), "1/2", "1/8"),
    ],
)
def test_the_whole_answer_has_the_privacy_that_is_charged(question, epsilon, delta, declared, each):
    """Over all neighbouring panels of one or two people in three years, the joint distribution is (ε, δ)-private."""
    privacy = Privacy(epsilon, delta)
    groups = YEARS if declared else None
    if not declared and question == exists("say"):
        with pytest.raises(ParameterError, match="declare the"):
            Groups.of(question, privacy, groups, None, None, each, ("year",))
        return
    divided = Groups.of(question, privacy, groups, None, None, each, ("year",))
    published = Published(question, divided)
    growth, slack = math.exp(privacy.epsilon), float(privacy.delta) + 1e-12
    others = PROFILES[:: 5 if not declared else 2]
    worst = 0.0
    for others_own in ((), *((own,) for own in others)):
        without = published.of(others_own, each)
        for own in PROFILES:
            present = published.of((*others_own, own), each)
            assert sum(present) == 1
            for one, other in ((present, without), (without, present)):
                worst = max(worst, float(beyond(one, other, growth)))
    assert worst <= slack
    if each == 1 and question != threshold("say", at_least=2):
        assert worst > 0  # the enumeration reaches pairs that differ


PLACES = (("a", "x"), ("a", "y"), ("b", "x"))  # the values of two columns that name a group together


def held(own):
    """The rows of one person who said something, or nothing, in each of three places."""
    return [(*place, say == 0) for place, say in zip(PLACES, own, strict=True) if say is not None]


@pytest.fixture(scope="module")
def counted_panels():
    """What the engine counts for all panels of at most two people in three groups, a person being in so many of them.

    All panels stand in one table, each with people of its own and under a first column of groups of its own.
    """
    panels = [(), *((one,) for one in PROFILES), *itertools.combinations_with_replacement(PROFILES, 2)]
    rows = [
        (f"{at}/{which}", str(at), *row)
        for at, people in enumerate(panels)
        for which, own in enumerate(people)
        for row in held(own)
    ]
    names = ("person", "panel", "year", "ward", "say")
    data = pa.table({name: list(cell) for name, cell in zip(names, zip(*rows, strict=True), strict=True)})
    found = {}
    for each in (1, 2, 3):
        with sources.open(data) as source:
            (batch,) = source.group_batches(majority("say"), names[1:4], unit="person", per_person=each)
        counts = dict(zip(batch.labels, map(tuple, batch.classes.tolist()), strict=True))
        for at, people in enumerate(panels):
            found[each, people] = [counts.get(f"{at},{year},{ward}", (0, 0)) for year, ward in PLACES]
    return found


@pytest.mark.parametrize("each", [1, 2, 3])
@pytest.mark.parametrize("declared", [True, False])
@pytest.mark.parametrize("question", [majority("say"), threshold("say", at_least=2)], ids=["majority", "threshold"])
def test_the_whole_answer_is_private_in_exact_fractions(counted_panels, question, declared, each):
    """Two columns of groups, all panels of at most two people as the engine counts them, ε = ln 9: no rounding at all.

    Every event has at most 9 times the probability plus δ in every neighbouring panel, both ways: its worst event is
    that of the outcomes that are more than 9 times as likely.
    """
    privacy = Privacy("ln 9", "1/100")
    groups = [",".join(place) for place in PLACES] if declared else None
    divided = Groups.of(question, privacy, groups, None, None, each, ("year", "ward"))
    published, worst, differ = Published(question, divided), Fraction(0), 0
    joint = {
        panel_: [math.prod(outcome) for outcome in itertools.product(*map(published.of_group, counts))]
        for (k, panel_), counts in counted_panels.items()
        if k == each
    }
    for panel_, present in joint.items():
        assert sum(present) == 1
        for gone in range(len(panel_)):
            without = joint[panel_[:gone] + panel_[gone + 1 :]]
            for one, other in ((present, without), (without, present)):
                beyond_ = sum((p - 9 * q for p, q in zip(one, other, strict=True) if p > 9 * q), Fraction(0))
                worst, differ = max(worst, beyond_), differ + (one != other)
    assert worst <= Fraction(1, 100)
    assert differ > 100  # the enumeration reaches pairs that differ


def test_groups_that_are_declared_disjoint_cost_what_the_dearest_of_them_costs(tmp_path):
    """Two groups on two days, ε = ln 2 and ln 3: in exact fractions both together lose the ln 3 that is charged.

    All data sets of at most four people, each in one of the groups, as the owner declared.
    """
    ledger = Ledger(tmp_path / "book.db", epsilon=5, protects=Protection(unit="person"))
    ledger.add_partition("year", "everybody is asked once")
    rows, days = (
        table([{**row, "person": str(at)} for at, row in enumerate(panel(1))]),
        {"2021": "ln 2", "2022": "ln 3"},
    )
    for year, epsilon in days.items():
        ask(rows, majority("say"), epsilon, by="year", groups=[year], unit="person", ledger=ledger)
    assert math.log(3) <= float(ledger.spent().epsilon) < math.log(3) + 1e-9
    asked = [Published(majority("say"), Groups.of(majority("say"), Privacy(epsilon), [year], None, None, 1, ("year",)))
             for year, epsilon in days.items()]  # fmt: skip
    people = [(group, say) for group in (0, 1) for say in (0, 1)]

    def joint(everybody):
        counts = [[0, 0], [0, 0]]
        for group, say in everybody:
            counts[group][say] += 1
        parts = [one.of_group(tuple(pair)) for one, pair in zip(asked, counts, strict=True)]
        return [math.prod(outcome) for outcome in itertools.product(*parts)]

    worst = Fraction(0)
    for size in range(4):
        for everybody in itertools.combinations_with_replacement(people, size):
            for person in people:
                both = joint(everybody), joint((*everybody, person))
                worst = max(worst, *(max(p / q, q / p) for p, q in zip(*both, strict=True)))
    assert 2 < worst <= 3


def test_a_person_in_more_groups_than_declared_would_be_told():
    """Who counts in three groups with the budget of one is not protected: the enumeration sees it."""
    privacy, question = Privacy("1", "1/10"), majority("say")
    divided = Groups.of(question, privacy, YEARS, None, None, 1, ("year",))
    without, present = (Published(question, divided).of(people, 3) for people in ((), ((0, 0, 0),)))
    assert beyond(present, without, math.exp(1)) > 0.11


# asking


def test_the_whole_epsilon_is_charged_once_and_each_group_gets_its_part():
    """The plan says so, and the certificate of the answers has a part of ε."""
    rows = table(panel(1))
    common = {"by": "year", "groups": list(YEARS), "unit": "person"}
    four = plan(rows, majority("say"), epsilon=1, groups_per_person=4, **common)
    assert four.epsilon == "1"
    assert any("1/4 of ε" in note for note in four.rules)
    once = plan(rows, majority("say"), epsilon=1, **common)
    assert any("counts only in the one that sorts first" in note for note in once.rules)
    quarter = plan(rows, majority("say"), epsilon="1/4", **common)
    assert four.accuracy == quarter.accuracy


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"groups_per_person": 2}, "needs unit"),
        ({"groups_per_person": 0, "unit": "person"}, "from 1 to"),
        ({"groups_per_person": True, "unit": "person"}, "from 1 to"),
        ({"by": ["year", "year"]}, "different columns"),
        ({"by": []}, "different columns"),
        ({"by": ["year", "ward"], "groups": ["2021"]}, "named by 2 values each"),
        ({"by": ["year", "ward"], "groups": ["2021, 1.0", "2021,1"]}, "without repeats"),
        ({"by": "ward", "groups": ["1", "1.0"]}, "without repeats"),
        ({"by": None, "groups_per_person": 2, "unit": "person"}, "column of groups"),
    ],
)
def test_what_makes_no_sense_is_refused(options, said):
    """Before a row is read."""
    with pytest.raises(ParameterError, match=said):
        ask(table(panel(1)), majority("say"), 1, **{"by": "year", "groups": ["2021"], **options})
