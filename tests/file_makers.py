"""Files of the kinds that people keep data in, made from rows: workbooks written tag by tag, databases, archives."""

from __future__ import annotations

import datetime as dt
import gzip
import re
import sqlite3
import zipfile
from contextlib import closing
from xml.sax.saxutils import escape

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
LINKS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
# the styles of cells, by their places: plain, date, date and time, time, duration, two that the workbook defines
STYLES = (
    f'<styleSheet xmlns="{MAIN}"><numFmts count="2"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd hh:mm:ss.000"/>'
    '<numFmt numFmtId="165" formatCode="0.0 &quot;days&quot;"/></numFmts><cellStyleXfs><xf numFmtId="14"/>'
    '</cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="22"/><xf numFmtId="20"/>'
    '<xf numFmtId="46"/><xf numFmtId="164"/><xf numFmtId="165"/></cellXfs></styleSheet>'
)
PLAIN, DATE, MOMENT, TIME, DURATION, MILLISECONDS, DAYS = range(7)
_HIDDEN = 'state="hidden"'


class Cell(str):
    """A cell as XML, with ``{r}`` for its place."""


def number(written, style=PLAIN):
    return Cell(f'<c {{r}} s="{style}"><v>{written}</v></c>')


def workbook(path, sheets, *, shared=False, since_1904=False, hidden=(), kinds=None):
    """An Excel workbook of sheets: names, and lists of rows of values, with None for no cell."""
    texts: list[str] = []
    links = [
        (f"r{at}", (kinds or {}).get(name, "worksheet"), f"worksheets/s{at}.xml") for at, name in enumerate(sheets)
    ]
    links += [("s", "styles", "styles.xml"), ("t", "sharedStrings", "/xl/sharedStrings.xml")]
    listed = "".join(
        f'<sheet name="{escape(name)}" sheetId="{at + 1}" {_HIDDEN if name in hidden else ""} r:id="r{at}"/>'
        for at, name in enumerate(sheets)
    )
    parts = {
        "_rels/.rels": _links([("a", "officeDocument", "xl/workbook.xml")]),
        "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{LINKS}"><workbookPr date1904="{since_1904:d}"/>'
        f"<sheets>{listed}</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": _links(links),
        "xl/styles.xml": STYLES,
    }
    for at, rows in enumerate(sheets.values()):
        lines = [
            "".join(_cell(value, x, y, texts if shared else None) for x, value in enumerate(row))
            for y, row in enumerate(rows, 1)
        ]
        body = "".join(f'<row r="{y}">{line}</row>' for y, line in enumerate(lines, 1))
        parts[f"xl/worksheets/s{at}.xml"] = f'<worksheet xmlns="{MAIN}"><sheetData>{body}</sheetData></worksheet>'
    items = "".join(f'<si><t xml:space="preserve">{text}</t></si>' for text in texts)
    parts["xl/sharedStrings.xml"] = f'<sst xmlns="{MAIN}">{items}</sst>'
    return archive(path, parts)


def archive(path, parts):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, text in parts.items():
            file.writestr(name, text)
    return path


def _links(links):
    inner = "".join(f'<Relationship Id="{id_}" Type="{LINKS}/{kind}" Target="{to}"/>' for id_, kind, to in links)
    return f'<Relationships xmlns="{PACKAGE}">{inner}</Relationships>'


def _letters(x):
    return (_letters(x // 26 - 1) if x >= 26 else "") + chr(65 + x % 26)


def _cell(value, x, y, texts):
    place = f'r="{_letters(x)}{y}"'
    if value is None:
        return ""
    if isinstance(value, Cell):
        return value.replace("{r}", place)
    if isinstance(value, bool):
        return f'<c {place} t="b"><v>{value:d}</v></c>'
    if isinstance(value, str):
        text = _escaped(value)
        if texts is None:
            return f'<c {place} t="inlineStr"><is><t xml:space="preserve">{text}</t></is></c>'
        if text not in texts:
            texts.append(text)
        return f'<c {place} t="s"><v>{texts.index(text)}</v></c>'
    style = PLAIN
    if isinstance(value, dt.date):
        style = MOMENT if isinstance(value, dt.datetime) else DATE
        begin = dt.datetime(1899, 12, 30)
        whole = value if isinstance(value, dt.datetime) else dt.datetime.combine(value, dt.time())
        value = (whole - begin) / dt.timedelta(days=1)
    return f'<c {place} s="{style}"><v>{value!r}</v></c>'


def _escaped(text):
    """Text as Excel writes it: what XML cannot hold has a number."""
    text = re.sub("_x[0-9A-Fa-f]{4}_", lambda found: f"_x005F{found[0]}", text)
    return escape(re.sub("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", lambda c: f"_x{ord(c[0]):04X}_", text))


def sqlite_table(path, columns, rows, table="people"):
    """An SQLite file with a table whose columns have no type."""
    with closing(sqlite3.connect(path)) as connection, connection:
        names = ", ".join(quoted(name) for name in columns)
        connection.execute(f"CREATE TABLE {quoted(table)} ({names})")
        marks = ", ".join("?" for _ in columns)
        connection.executemany(f"INSERT INTO {quoted(table)} VALUES ({marks})", rows)  # noqa: S608 # names are quoted
    return path


def quoted(name):
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def packed(path, content):
    """Content compressed as the name of the path says."""
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(content))
        return path
    import pyarrow as pa

    with pa.output_stream(str(path), compression="zstd") as file:
        file.write(content)
    return path
