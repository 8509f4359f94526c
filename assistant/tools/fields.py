"""The kinds of values that tools take: text with its form, checked by the schema before any code sees it."""

from typing import Annotated

from pydantic import Field, StringConstraints

from ledger import refs

AMOUNT = r"^[0-9]{1,9}(\.[0-9]{1,2})?$"

Ref = Annotated[
    str,
    StringConstraints(pattern=f"^{refs.REF}$"),
    Field(description="public ref such as C-0101, Q-1042, INV-0229; resolved inside the caller's tenant"),
]
Money = Annotated[
    str,
    StringConstraints(pattern=AMOUNT),
    Field(description="decimal in MAJOR units, dot separator, e.g. 150.00 (never cents)"),
]
Percent = Annotated[str, StringConstraints(pattern=r"^(100(\.0{1,2})?|[0-9]{1,2}(\.[0-9]{1,2})?)$")]
FinePercent = Annotated[str, StringConstraints(pattern=r"^[0-9]{1,9}(\.[0-9]{1,4})?$")]
Quantity = Annotated[str, StringConstraints(pattern=r"^[0-9]{1,7}(\.[0-9]{1,3})?$")]
UnitPrice = Annotated[str, StringConstraints(pattern=r"^[0-9]{1,9}(\.[0-9]{1,4})?$")]
Day = Annotated[str, StringConstraints(max_length=10), Field(json_schema_extra={"format": "date"})]
EmailText = Annotated[str, StringConstraints(max_length=254), Field(json_schema_extra={"format": "email"})]
SubjectHint = Annotated[
    str, StringConstraints(max_length=120), Field(description="the owner's own words for what is meant, as said")
]
