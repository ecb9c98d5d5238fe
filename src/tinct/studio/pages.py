"""The pages of the studio, in the order of the navigation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tinct.studio.budget import page as budget_page
from tinct.studio.design import page as design_page
from tinct.studio.design import wiring as design_wiring
from tinct.studio.design.state import DesignState
from tinct.studio.local import page as local_page
from tinct.studio.local.state import LocalState
from tinct.studio.rainbow import page as rainbow_page
from tinct.studio.rainbow.state import RainbowState
from tinct.studio.verify import page as verify_page
from tinct.studio.verify.state import VerifyState

if TYPE_CHECKING:
    from collections.abc import Callable

    from tinct.studio.workshop import Workshop


@dataclass(frozen=True)
class Page:
    """A page: its title, the settings it starts with, how it is laid out from settings, and how it is connected."""

    title: str
    start: Callable[[], Any]
    layout: Callable[[Any, Workshop], Any]
    register: Callable[[Any, Workshop], None]


PAGES: dict[str, Page] = {
    "design": Page(
        "Design",
        lambda: DesignState().to_json(),
        lambda state, _: design_page.layout(DesignState.from_json(state)),
        design_wiring.register,
    ),
    "rainbow": Page(
        "Rainbow",
        lambda: RainbowState().to_json(),
        lambda state, _: rainbow_page.layout(RainbowState.from_json(state)),
        rainbow_page.register,
    ),
    "local": Page(
        "Local",
        lambda: LocalState().to_json(),
        lambda state, _: local_page.layout(LocalState.from_json(state)),
        local_page.register,
    ),
    "verify": Page(
        "Verify",
        lambda: VerifyState().to_json(),
        lambda state, _: verify_page.layout(VerifyState.from_json(state)),
        verify_page.register,
    ),
    "budget": Page("Budget", dict, lambda _, workshop: budget_page.layout(workshop), budget_page.register),
}
