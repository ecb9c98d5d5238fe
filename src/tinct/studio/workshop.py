"""What all pages of one studio share: uploaded files, and the ledger to look at if there is one."""

from __future__ import annotations

from dataclasses import dataclass, field

from tinct.studio.families import GraphFiles
from tinct.studio.uploads import Uploads


@dataclass(frozen=True)
class Workshop:
    """The uploads, the graphs read from them, and where the ledger is."""

    ledger: str | None = None
    uploads: Uploads = field(default_factory=Uploads)

    def __post_init__(self) -> None:
        object.__setattr__(self, "files", GraphFiles(self.uploads))

    files: GraphFiles = field(init=False)
