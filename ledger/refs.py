"""The form of a public ref: C-0101, Q-1042, INV-9, FAT-2026000042."""

import re
from typing import Final

REF: Final = "[A-Z]{1,4}-[0-9]{1,12}"
"""Every number that a company may choose (see NumberFormat) has this form: what has another could be neither linked
to nor named to a tool."""


def is_ref(text: str) -> bool:
    return re.fullmatch(REF, text) is not None
