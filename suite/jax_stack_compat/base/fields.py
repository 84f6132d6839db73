"""Types of fields in our files: ids, versions, requirements, plausible dates. Faults name the field."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated

from pydantic import AfterValidator, AwareDatetime, StringConstraints

from jax_stack_compat.base.errors import Failed
from jax_stack_compat.base.spelling import (
    NAME_LETTERS,
    cell_id,
    identifier,
    plain_requirement,
    requirement,
    specifiers,
    version,
)

# All releases and plans are within these dates. Date arithmetic may go one day beyond them.
_OLDEST, _LATEST = datetime(2000, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)


def _moment(at: datetime) -> datetime:
    if not _OLDEST <= at < _LATEST:
        raise ValueError(f"{at:%Y-%m-%d} is not between {_OLDEST.year} and {_LATEST.year}")
    return at


def this_moment() -> datetime:
    """Return the present time in seconds. Raises Failed if this machine's clock is not set."""
    at = datetime.now(UTC).replace(microsecond=0)
    try:
        return _moment(at)
    except ValueError as error:
        raise Failed(
            f"this machine's clock is wrong: {error}. Set it, because records and reports are dated"
        ) from error


def _checked(check: Callable[[str], object]) -> AfterValidator:
    """Return a validator that keeps a text if `check` does not raise."""

    def keep(text: str) -> str:
        check(text)
        return text

    return AfterValidator(keep)


Id = Annotated[str, AfterValidator(identifier)]
CellId = Annotated[str, AfterValidator(cell_id)]
PackageName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=NAME_LETTERS)]
VersionText = Annotated[str, AfterValidator(version)]
# Requirements: in metadata's syntax; in ours, which has a name and versions only; and several of ours with spaces
# between.
RequirementText = Annotated[str, _checked(requirement)]
PlainRequirement = Annotated[str, _checked(plain_requirement)]
PlainRequirements = Annotated[str, _checked(lambda text: [*map(plain_requirement, text.split())])]
SpecifierText = Annotated[str, _checked(specifiers)]
Moment = Annotated[AwareDatetime, AfterValidator(_moment)]
