"""dpaudit with all samples for the bound (`certify`)."""

from __future__ import annotations

from functools import partial

from common import main
from with_dpaudit import audit

if __name__ == "__main__":
    main(partial(audit, certify=True))
