"""Certified mechanisms as OpenDP measurements, drawn by tinct's own exact sampler.

OpenDP cannot check what a function written in Python does, so it asks for its features ``contrib`` and
``honest-but-curious`` to be enabled: the claim is then tinct's, and is backed by the certificate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tinct.asking.designs import YesNoDesign, design
from tinct.errors import Parameter, ParameterError
from tinct.exact import Certified
from tinct.interop.group_privacy import Promise
from tinct.privacy import Privacy
from tinct.questions import Counts, Question, parse
from tinct.questions.positions import ADD_REMOVE, REPLACE, require_relation
from tinct.questions.questions import YesNo

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import ModuleType

    from tinct.numbers.amounts import AmountLike, NumberLike

_FEATURES = ("contrib", "honest-but-curious")
_NUMBERS = ("i32", "i64")


def measurement(certified: Certified, *, number: str = "i32") -> Any:
    """A certified mechanism as an OpenDP measurement.

    For a certificate of a line (``exact.line``, ``exact.ray``) the input is a position, a whole number, and distances
    are absolute: it can be chained with any OpenDP transformation to such a number. For any other certificate the input
    is a vertex of its graph, and distances are numbers of edges. The privacy map gives ε for ``d_in`` steps, or
    (ε, δ) if δ is not 0.

    Args:
        certified: The mechanism.
        number: The type of positions on a line, ``"i32"`` (OpenDP's own choice for counts) or ``"i64"``.

    >>> import opendp.prelude as dp
    >>> from tinct import Privacy, exact
    >>> dp.enable_features("contrib", "honest-but-curious")
    >>> ours = measurement(exact.line(Privacy("0.5")))
    >>> ours(1000), ours.map(3)
    ('yes', 1.5)
    """
    if not isinstance(certified, Certified):
        raise ParameterError(f"a Certified is needed (tinct.exact makes them), got {certified!r:.80}")
    if number not in _NUMBERS:
        raise ParameterError(f"number must be one of {', '.join(_NUMBERS)}, got {number!r:.80}")
    opendp = _opendp()
    if certified.clamped:
        space = opendp.atom_domain(T=number), opendp.absolute_distance(T=number)
    else:
        graph = f"the graph of tinct certificate {certified.id}"
        member = _membership(certified)
        space = opendp.user_domain(f"vertices of {graph}", member), opendp.user_distance(f"edges in {graph}")
    return _measurement(opendp, space, certified.release, Promise.of(certified.terms))


def question_measurement(
    question: Question | str,
    epsilon: AmountLike,
    delta: NumberLike = 0,
    *,
    neighbors: str = ADD_REMOVE,
    n: int | None = None,
    lean: NumberLike | None = None,
) -> Any:
    """The optimal mechanism for a yes/no question as an OpenDP measurement of a vector of truth values.

    The input says for every person whether the question's predicate is true, as OpenDP's own transformations can
    compute it; what the predicate is makes no difference here. With ``neighbors="add-remove"`` the metric is OpenDP's
    symmetric distance, with ``"replace"`` it is the change-one distance of vectors of ``n`` people.

    Args:
        question: A yes/no question such as ``majority("support")``, or its text.
        epsilon: ε between neighbours.
        delta: δ between neighbours.
        neighbors: ``"add-remove"`` or ``"replace"``.
        n: The public number of people, for ``"replace"``.
        lean: Unequal boundaries, as for ``ask``.

    >>> import opendp.prelude as dp
    >>> dp.enable_features("contrib", "honest-but-curious")
    >>> ours = question_measurement("majority(support)", "0.5")
    >>> ours([True] * 900 + [False] * 100), ours.map(1)
    ('yes', 0.5)
    """
    asked = parse(question) if isinstance(question, str) else question
    if not isinstance(asked, YesNo):
        raise ParameterError(f"a yes/no question is needed, such as majority('support'), got {question!r:.80}")
    if neighbors == REPLACE and n is None:
        raise ParameterError(Parameter("neighbors", "replace"), " needs n, the public number of people", parameter="n")
    require_relation(neighbors, n)
    made = design(asked, Privacy(epsilon, delta), neighbors, n, lean=lean)
    if not isinstance(made, YesNoDesign):
        raise ParameterError("every dataset has the same answer to this question, so there is nothing to draw")
    opendp = _opendp()
    people = opendp.vector_domain(opendp.atom_domain(T=bool), size=n)
    metric = opendp.change_one_distance() if neighbors == REPLACE else opendp.symmetric_distance()
    return _measurement(opendp, (people, metric), _answering(made), Promise.of(made.certified.terms))


def _answering(made: YesNoDesign) -> Callable[[Sequence[bool]], Any]:
    def answer(values: Sequence[bool]) -> Any:
        true = sum(values)
        # OpenDP's domain has vectors of length n; of any other the family takes n and says nothing
        return made.draw(Counts(len(values), (true, len(values) - true)))

    return answer


def _membership(certified: Certified) -> Callable[[Any], bool]:
    def is_vertex(value: object) -> bool:
        try:
            return len(certified.positions([value])) == 1
        except ParameterError:
            return False

    return is_vertex


def _measurement(opendp: ModuleType, space: Any, draw: Callable[[Any], Any], promise: Promise) -> Any:
    if promise.delta == 0:
        return opendp.m.make_user_measurement(*space, opendp.max_divergence(), draw, lambda steps: promise.at(steps)[0])
    return opendp.m.make_user_measurement(*space, opendp.approximate(opendp.max_divergence()), draw, promise.at)


def _opendp() -> ModuleType:
    """OpenDP, if it is installed and was told to accept functions in Python."""
    try:
        import opendp.prelude as module
        from opendp.mod import OpenDPException, assert_features
    except ImportError:
        raise ParameterError("OpenDP is not installed: pip install 'tinct[opendp]'") from None
    try:
        assert_features(*_FEATURES)
    except OpenDPException:
        # not switched on here: that somebody accepts unchecked functions is for them to say
        names = ", ".join(map(repr, _FEATURES))
        raise ParameterError(f"OpenDP must be told to accept this: opendp.prelude.enable_features({names})") from None
    return module  # type: ignore[no-any-return, unused-ignore]
