"""Sentences that carry their facts: people read the words, programs the fields, and nobody has to search words."""

from __future__ import annotations

from typing import Any


class Remark(str):
    """A sentence, which is a text like any other; ``code`` says which sentence it is, ``facts`` what it speaks of.

    >>> said = Remark("ε = 6 promises little", "large-epsilon", epsilon="6")
    >>> said.upper(), said.code, said.facts
    ('Ε = 6 PROMISES LITTLE', 'large-epsilon', {'epsilon': '6'})
    >>> said.to_dict()
    {'code': 'large-epsilon', 'epsilon': '6', 'text': 'ε = 6 promises little'}
    """

    code: str
    facts: dict[str, Any]

    def __new__(cls, text: str, code: str = "", **facts: Any) -> Remark:
        """Keep the words as they are; a remark without a code is named by the field it is in."""
        made = super().__new__(cls, text)
        made.code, made.facts = code, facts
        return made

    def to_dict(self) -> dict[str, Any]:
        """The remark as a JSON object: its code if it has one, its facts, and its words as ``text``."""
        return {**({"code": self.code} if self.code else {}), **self.facts, "text": str(self)}

    def __str__(self) -> str:
        return super().__str__()


def as_object(text: str | None) -> dict[str, Any] | None:
    """A remark as a JSON object; a sentence of somebody's own, without facts, is a note.

    >>> as_object("rows come from the archive")
    {'code': 'note', 'text': 'rows come from the archive'}
    """
    if text is None:
        return None
    return text.to_dict() if isinstance(text, Remark) else Remark(text, "note").to_dict()
