"""Make umfrage.csv: 900 invented residents, asked in two years, in a file as spreadsheets of many countries write it.

Nobody in it exists. The file is not UTF-8, has semicolons between its cells, commas in its numbers, dates with the day
first, a question coded 1 and 2, and two ways of saying nothing. Run: python examples/make_panel.py umfrage.csv
"""

import random
import sys
from pathlib import Path

RESIDENTS = 900
SEED = 20240229
YEARS = (2023, 2024)
WARDS = ["Höfen", "Mühlau", "Süd"]
COLUMNS = ["Nr", "Jahr", "Bezirk", "Zustimmung", "Rad", "Einkommen", "geboren"]


def line(person: int, year: int, draw: random.Random) -> str:
    """What one person said in one year."""
    known = random.Random(SEED + person)  # noqa: S311 # what does not change from year to year
    ward, born = known.choice(WARDS), (known.randint(1, 28), known.randint(1, 12), known.randint(1935, 2005))
    income = f"{known.lognormvariate(7.8, 0.4):,.2f}".translate(str.maketrans(",.", ".,"))
    favour = draw.random() < (0.45 if year == YEARS[0] else 0.64)
    said = draw.choices([draw.choice(["ja", "Ja"] if favour else ["nein"]), "k.A.", ""], [90, 6, 4])[0]
    rides = draw.choices(["1", "2", "-9"], [38, 58, 4])[0]
    cells = [f"K{person:04d}", str(year), ward, said, rides, income, "{:02d}.{:02d}.{}".format(*born)]
    return ";".join(cells)


def main(path: Path) -> None:
    """Write the file; most people are in it twice, once for each year."""
    draw = random.Random(SEED)  # noqa: S311 # invented people, the same ones every time
    asked = [(person, year) for person in range(RESIDENTS) for year in YEARS if draw.random() < 0.85]
    draw.shuffle(asked)
    lines = [";".join(COLUMNS), *(line(person, year, draw) for person, year in asked)]
    path.write_bytes("\r\n".join([*lines, ""]).encode("cp1252"))


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "umfrage.csv"))
