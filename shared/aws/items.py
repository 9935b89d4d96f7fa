"""Items of the table as plain dicts: str, int, bool, None, bytes, lists and dicts of these."""

from __future__ import annotations

from typing import Any

Item = dict[str, Any]
Key = tuple[str, str]


def encode(value: Any) -> dict[str, Any]:  # noqa: PLR0911 - one return a type
    """Return DynamoDB's typed form of `value`.

    Raises:
        TypeError: a type that no record of ours holds (floats among them: they would lose digits).
    """
    match value:
        case str():
            return {"S": value}
        case bool():
            return {"BOOL": value}
        case int():
            return {"N": str(value)}
        case None:
            return {"NULL": True}
        case bytes():
            return {"B": value}
        case list() | tuple():
            return {"L": [encode(v) for v in value]}
        case dict():
            return {"M": {k: encode(v) for k, v in value.items()}}
    raise TypeError(f"no record holds a {type(value).__name__}")


def decode(value: dict[str, Any]) -> Any:
    """Return the plain form of one typed value."""
    ((kind, content),) = value.items()
    match kind:
        case "S" | "BOOL" | "B":
            return content
        case "N":
            return int(content)
        case "NULL":
            return None
        case "L":
            return [decode(v) for v in content]
        case "M":
            return decode_item(content)
    raise TypeError(f"no record holds a {kind}")


def encode_item(item: Item) -> dict[str, Any]:
    """Return the typed form of a whole item."""
    return {name: encode(value) for name, value in item.items()}


def decode_item(item: dict[str, Any]) -> Item:
    """Return the plain form of a whole item."""
    return {name: decode(value) for name, value in item.items()}


def encode_key(key: Key) -> dict[str, Any]:
    """Return the typed form of a primary key."""
    return {"pk": {"S": key[0]}, "sk": {"S": key[1]}}


def key_of(item: Item) -> Key:
    """Return the primary key of an item."""
    return item["pk"], item["sk"]
