"""The seed writes addresses on one line, as each country does."""

import re

_US = re.compile(r"(?P<line1>.+), (?P<city>[^,]+), (?P<region>[A-Z]{2}) (?P<postal_code>\d{5})")
_BR = re.compile(
    r"(?P<line1>[^,]+, \d+)(?:, (?P<line2>[^,]+))?, (?P<city>[^,]+) - (?P<region>[A-Z]{2})"
    r"(?:, (?P<postal_code>\d{5}-\d{3}))?"
)


def parts_of(line: str, country: str) -> dict[str, str]:
    """The parts of an address of the seed. Raises ValueError for one that is not written as the country does."""
    found = (_BR if country == "BR" else _US).fullmatch(line)
    if found is None:
        raise ValueError(f"not an address of {country}: {line}")
    return {part: text for part, text in found.groupdict().items() if text} | {"country": country}
