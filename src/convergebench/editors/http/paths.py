"""JMESPath expressions on answers; whatever an answer holds, looking into it raises nothing."""

from __future__ import annotations

import re
from functools import cache
from typing import Any
from urllib.parse import quote

import jmespath
from jmespath.exceptions import JMESPathError

_IN_BRACES = re.compile(r"\{([^{}]+)\}")


@cache
def _compiled(path: str) -> Any:
    return jmespath.compile(path)


def require_path(path: str, where: str) -> None:
    """`ValueError` if it cannot be read as JMESPath."""
    try:
        _compiled(path)
    except (JMESPathError, ValueError, RecursionError) as error:
        reason = str(error).partition("\n")[0].strip(" :")
        raise ValueError(f"{where} should be a JMESPath such as data[0].url (jmespath.org): {reason}") from error


def require_address(template: str, where: str) -> None:
    """`ValueError` unless every part in braces is a JMESPath."""
    for path in _IN_BRACES.findall(template):
        require_path(path, where)
    if not _IN_BRACES.search(template):
        raise ValueError(
            f'{where} should hold something of the first answer, such as "{{status_url}}" or "/tasks/{{id}}"'
        )


def found_at(path: str, answer: Any) -> Any:
    """The value at a path, or None."""
    try:
        return _compiled(path).search(answer)
    except (JMESPathError, ValueError, TypeError, RecursionError):  # a function of a value that it does not take
        return None


def holds(condition: str, answer: Any) -> bool:
    """Whether a condition is met: as in JMESPath, nothing, false and what is empty are not."""
    value = found_at(condition, answer)
    return value is not None and value is not False and value not in ("", [], {})


def address_of(template: str, answer: Any) -> str | None:
    """An address with parts of an answer filled in; None if the answer lacks one.

    A template that is one expression is the whole address; inside a longer one values are escaped.
    """
    whole = _IN_BRACES.fullmatch(template)
    if whole is not None:
        value = found_at(whole[1], answer)
        return value if isinstance(value, str) and value else None
    values = [found_at(path, answer) for path in _IN_BRACES.findall(template)]
    if not all(isinstance(one, str | int) and not isinstance(one, bool) and one != "" for one in values):
        return None
    given = iter(values)
    return _IN_BRACES.sub(lambda _: quote(str(next(given)), safe=""), template)
