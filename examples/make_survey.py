"""Make survey.csv: 4,000 invented residents of an invented town, asked about a new tram line.

Nobody in it exists. The file looks like real ones do: some answers are blank, some ages and incomes are missing or
not numbers, yes and no are written in several ways, and a few people appear twice. Run: python examples/make_survey.py
"""

import csv
import random
from pathlib import Path

RESIDENTS = 4000
SEED = 20240229
WARDS = {"Harbour": 0.58, "Mill End": 0.47, "Northgate": 0.53, "Old Town": 0.61, "Riverside": 0.55, "Station": 0.66}
AGES = {"18-29": 0.2, "30-44": 0.26, "45-64": 0.33, "65+": 0.21}
REASONS = ["noise", "cost", "travel time", "climate", "shops", "other"]
COLUMNS = ["person_id", "ward", "age_group", "income", "cars", "smokes", "support", "reason"]


def resident(person: int, draw: random.Random) -> dict[str, str]:
    """One line: who, where, and what they said."""
    ward = draw.choice(list(WARDS))
    age = draw.choices(list(AGES), list(AGES.values()))[0]
    lean = WARDS[ward] + {"18-29": 0.08, "30-44": 0.04, "45-64": -0.03, "65+": -0.08}[age]
    in_favour = draw.random() < lean
    weights = [1, 1, 4, 4, 2, 1] if in_favour else [4, 5, 1, 1, 2, 1]
    income = round(draw.lognormvariate(10.35, 0.45), -2)
    return {
        "person_id": f"P{person:05d}",
        "ward": ward,
        "age_group": age,
        "income": draw.choices([f"{income:.0f}", "", "n/a", "prefer not to say"], [92, 5, 2, 1])[0],
        "cars": str(draw.choices([0, 1, 2, 3], [30, 45, 20, 5])[0]),
        "smokes": draw.choices(["yes", "no", ""], [16, 80, 4])[0],
        "support": draw.choices(["yes", "Yes", "Y"] if in_favour else ["no", "No", "N"], [90, 7, 3])[0]
        if draw.random() > 0.04
        else draw.choice(["", "don't know"]),
        "reason": draw.choices(REASONS, weights)[0] if draw.random() > 0.06 else "",
    }


def main() -> None:
    """Write the file, with a few people who sent the form twice."""
    draw = random.Random(SEED)  # noqa: S311 # invented people, the same ones every time
    rows = [resident(person, draw) for person in range(1, RESIDENTS + 1)]
    rows += [{**resident(0, draw), "person_id": row["person_id"]} for row in draw.sample(rows, 40)]
    draw.shuffle(rows)
    with Path(__file__).with_name("survey.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
