"""The arguments that leads and clients share."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, StringConstraints

from assistant.tools.registry import ToolArguments

Name = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Phone = Annotated[str, StringConstraints(max_length=32)]
Word = Annotated[str, StringConstraints(max_length=200)]
Limit = Annotated[int, Field(ge=1, le=50)]
Days = Annotated[int, Field(ge=0, le=3650)]
OnDuplicate = Literal["ask", "create"]

Part = Annotated[str, StringConstraints(max_length=160)]


class AddressFields(ToolArguments):
    """A postal address in parts."""

    line1: Part
    line2: Part = ""
    city: Part
    region: Part = ""
    postal_code: Part = ""
    country: Part = ""


def _without_defaults(schema: dict[str, Any]) -> None:
    for column in schema.get("properties", {}).values():
        column.pop("default", None)


class Patch(ToolArguments):
    """A change: only what is named counts, so the schema shows no defaults that a model might copy."""

    model_config = ConfigDict(json_schema_extra=_without_defaults)


def changes_of(patch: Patch) -> dict[str, Any]:
    """Exactly what the patch names, so that what it leaves out stays as it is."""
    return patch.model_dump(exclude_unset=True)
