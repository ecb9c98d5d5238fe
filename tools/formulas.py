"""Set the formulas of the documentation: LaTeX in the sources becomes MathML in the pages, when the site is built.

MkDocs calls ``on_page_content`` for every page (``hooks`` in mkdocs.yml), after pymdownx.arithmatex has found the
formulas. Browsers draw MathML by themselves: no script runs, and a formula can be selected and read aloud.
"""

from __future__ import annotations

import html
import re

from math_core import LatexError, LatexToMathML
from mkdocs.exceptions import PluginError

_DISPLAYED = re.compile(r'<div class="arithmatex">\\\[(.*?)\\\]</div>', re.DOTALL)
_INLINE = re.compile(r'<span class="arithmatex">\\\((.*?)\\\)</span>((?:-\w+)?[,.;:)]*)', re.DOTALL)
_RELATION = re.compile(r"\\(?:le|ge|iff|mapsto)\b|[=<>]")
_LETTER = r"(<m[ino]>[^<]*</m[ino]>)"
_PRIMED = re.compile(rf"<msup>{_LETTER}<mo>([′″])</mo></msup>|<msubsup>{_LETTER}{_LETTER}<mo>([′″])</mo></msubsup>")
_LONG = 36  # letters of LaTeX: browsers do not break a formula, so a longer one is set in pieces
_CONVERTER = LatexToMathML(fancy_error=False)


def mathml(latex: str, *, display: bool) -> str:
    """A formula as MathML; what cannot be set stops the build.

    >>> mathml("a^2", display=False)
    '<math><msup><mi>a</mi><mn>2</mn></msup></math>'
    >>> mathml("s'_k", display=False).count("<msub><mrow><mi>s</mi>")
    1
    """
    try:
        return _PRIMED.sub(_beside, _CONVERTER.convert_with_local_state(latex, displaystyle=display))
    except LatexError as error:
        raise PluginError(f"this formula cannot be set: {latex}\n{error}") from error


def _beside(found: re.Match[str]) -> str:
    """A prime beside its letter: it is drawn raised already, and as an exponent would float above the line."""
    letter, prime, other, below, second = found.groups()
    primed = f'<mrow>{letter or other}<mo lspace="0" rspace="0">{prime or second}</mo></mrow>'
    return primed if letter else f"<msub>{primed}{below}</msub>"


def pieces(latex: str) -> list[str]:
    r"""A long formula, cut before the relations outside all brackets, where a line may end.

    >>> pieces(r"h_i(u) \le A_i(u) \le K(h_i(u')) = U(B(w))")
    ['h_i(u)', '\\le A_i(u)', "\\le K(h_i(u'))", '= U(B(w))']
    >>> pieces("a = b")
    ['a = b']
    """
    if len(latex) <= _LONG or r"\left" in latex:
        return [latex]
    depth, start, found = 0, 0, []
    for token in re.finditer(r"\\lbrace|\\rbrace|\\[a-z]+|[()\[\]{}=<>]", latex):
        depth += (token[0] in ("(", "[", "{", r"\lbrace")) - (token[0] in (")", "]", "}", r"\rbrace"))
        if depth == 0 and _RELATION.fullmatch(token[0]) and token.start() > start:
            found.append(latex[start : token.start()].strip())
            start = token.start()
    return [*found, latex[start:]]


def on_page_content(text: str, **_: object) -> str:
    """The page with its formulas set: those on lines of their own in a box that scrolls on a narrow screen."""

    def displayed(found: re.Match[str]) -> str:
        return f'<div class="formula" tabindex="0">{mathml(html.unescape(found[1]).strip(), display=True)}</div>'

    def inline(found: re.Match[str]) -> str:
        *first, last = (mathml(piece, display=False) for piece in pieces(html.unescape(found[1]).strip()))
        end = f'<span class="unbroken">{last}{found[2]}</span>' if found[2] else last
        return " ".join([*first, end])

    return _INLINE.sub(inline, _DISPLAYED.sub(displayed, text))
