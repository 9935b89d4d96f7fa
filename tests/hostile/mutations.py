"""What a hostile caller does to each part of a request."""

from __future__ import annotations

import base64
import gzip
import json
import zlib
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from tests.hostile.odd_values import HEADS, METHODS, NUMBERS, RAW_JSON, SEGMENTS, TEXTS

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

Parts = dict[str, Any]


def changed(part: str, parts: Parts, draw: random.Random) -> Parts:
    """Return the part of a request as it is after one change."""
    return {"method": _method, "path": _path, "query": _query, "headers": _headers, "body": _body}[part](parts, draw)


def _method(_: Parts, draw: random.Random) -> Parts:
    return {"method": draw.choice(METHODS)}


def _path(parts: Parts, draw: random.Random) -> Parts:
    pieces = parts["path"].split("/")
    at = draw.randrange(1, len(pieces)) if len(pieces) > 1 else 0
    kind = draw.randrange(6)
    if kind <= 1:
        pieces[at] = draw.choice(SEGMENTS)
    elif kind == 2:
        pieces[at] = quote(draw.choice(TEXTS).encode("utf-8", "replace"), safe="")
    elif kind == 3:
        pieces.insert(at, draw.choice((*SEGMENTS, "")))
    elif kind == 4:
        pieces[at] = "".join(f"%{ord(c):02x}" if c.isalnum() and draw.random() < 0.4 else c for c in pieces[at])
    else:
        pieces[at] += draw.choice(("/", "%20", "%00", "?", ".json", "%3Fa=b", ";jsessionid=1", "\xa0"))
    return {"path": "/".join(pieces).replace("?", "%3F").replace(" ", "%20") or "/"}


def _query(parts: Parts, draw: random.Random) -> Parts:
    pairs = [pair for pair in parts["query"].split("&") if pair]
    known = ("limit", "cursor", "page", "user_id", "kind", "filters", "view", "depth", "scope", "path_prefix", "order")
    name = draw.choice(pairs).partition("=")[0] if pairs and draw.random() < 0.6 else draw.choice(known)
    kind = draw.randrange(8)
    if kind <= 3:
        value = quote(draw.choice(TEXTS).encode("utf-8", "replace"), safe="")
        pairs = [pair for pair in pairs if pair.partition("=")[0] != name or draw.random() < 0.3] + [f"{name}={value}"]
    elif kind == 4:
        pairs.append(
            f"{name}={draw.choice((*SEGMENTS, '+', '1;2', '=', '&&', '__keys_cursor__', '__history_cursor__'))}"
        )
    elif kind == 5 and pairs:
        pairs.pop(draw.randrange(len(pairs)))
    elif kind == 6:
        pairs.append(f"{name}={draw.choice(NUMBERS)}")
    else:
        pairs += draw.choice(([f"{name}"], ["=x"], [f"{name}[]=1"], [f"a{n}={n}" for n in range(150)], ["%ff=%00"]))
    return {"query": "&".join(pairs).replace(" ", "+")}


def _headers(parts: Parts, draw: random.Random) -> Parts:
    headers = [tuple(pair) for pair in parts["headers"]]
    name = draw.choice(sorted(HEADS))
    kind = draw.randrange(6)
    if kind <= 2:
        headers = [pair for pair in headers if pair[0] != name] + [(name, draw.choice(HEADS[name]))]
    elif kind == 3:
        headers.append((name, draw.choice(HEADS[name])))
    elif kind == 4 and headers:
        headers.pop(draw.randrange(len(headers)))
    else:
        headers += draw.choice(
            (
                [(name.upper(), draw.choice(HEADS[name]))],
                [(f"x-filler-{n}", "v" * 50) for n in range(90)],
                headers,
                [("x-odd", "".join(chr(draw.randrange(0x80, 0x100)) for _ in range(60)))],
            )
        )
    return {"headers": headers}


def _body(parts: Parts, draw: random.Random) -> Parts:
    body: str = parts["body"]
    try:
        value = json.loads(body.encode("latin-1")) if body else {}
    except (ValueError, RecursionError):
        value = None
    if value is not None and draw.random() < 0.7:
        return _of_json(value, parts, draw)
    return draw.choice(BODIES)(body, parts, draw)


def _of_json(value: Any, parts: Parts, draw: random.Random) -> Parts:
    if draw.random() < 0.75:
        written = json.dumps(_odd(value, draw))
    else:
        hole = json.dumps(_placed(value, draw))
        written = hole.replace('"@@hole@@"', draw.choice(RAW_JSON), 1)
        if draw.random() < 0.3 and written.startswith("{") and len(written) > 2:  # the same key twice
            written = f"{written[:-1]},{written[1:]}"
    return {"body": written if draw.random() < 0.6 else written.encode().decode("latin-1"), **_typed(parts, draw)}


def _typed(parts: Parts, draw: random.Random) -> Parts:
    headers = [tuple(pair) for pair in parts["headers"]]
    if any(name == "content-type" for name, _ in headers) or draw.random() < 0.2:
        return {}
    return {"headers": [*headers, ("content-type", "application/json")]}


def _odd(value: Any, draw: random.Random) -> Any:
    """Return a JSON value with one change somewhere in it."""
    if isinstance(value, dict) and value and draw.random() < 0.9:
        return _odd_object(value, draw)
    if isinstance(value, list) and value and draw.random() < 0.85:
        return _odd_list(value, draw)
    return _anything(draw)


def _odd_object(value: dict[str, Any], draw: random.Random) -> dict[str, Any]:
    name = draw.choice(sorted(value))
    kind = draw.randrange(8)
    if kind == 0:
        return {n: v for n, v in value.items() if n != name}
    if kind == 1:
        return {**value, draw.choice(TEXTS): _anything(draw)}
    return {**value, name: [value[name]] if kind == 2 else _odd(value[name], draw)}


def _odd_list(value: list[Any], draw: random.Random) -> list[Any]:
    at = draw.randrange(len(value))
    kind = draw.randrange(6)
    if kind <= 1:
        return value * (2 if kind else 120)
    if kind == 2:
        return [*value, _anything(draw)]
    return [*value[:at], _odd(value[at], draw), *value[at + 1 :]]


def _anything(draw: random.Random) -> Any:
    kind = draw.randrange(8)
    if kind <= 2:
        return draw.choice(TEXTS)
    if kind <= 4:
        return draw.choice(NUMBERS)
    if kind == 5:
        return draw.choice((None, True, False, [], {}, [[]], {"": ""}, [None], {"eq": None}, {"in": []}))
    if kind == 6:
        return {draw.choice(TEXTS): draw.choice(NUMBERS)}
    return [draw.choice(TEXTS) for _ in range(draw.randrange(5))]


def _placed(value: Any, draw: random.Random) -> Any:
    if isinstance(value, dict) and value:
        name = draw.choice(sorted(value))
        return {**value, name: _placed(value[name], draw) if draw.random() < 0.4 else "@@hole@@"}
    return "@@hole@@"


def _truncated(body: str, _: Parts, draw: random.Random) -> Parts:
    return {"body": body[: draw.randrange(len(body) + 1)]}


def _flipped(body: str, _: Parts, draw: random.Random) -> Parts:
    letters = list(body or "{}")
    for _n in range(draw.randrange(1, 6)):
        letters[draw.randrange(len(letters))] = chr(draw.randrange(256))
    return {"body": "".join(letters)}


def _inserted(body: str, _: Parts, draw: random.Random) -> Parts:
    at = draw.randrange(len(body) + 1)
    noise = "".join(chr(draw.randrange(256)) for _n in range(draw.randrange(1, 40)))
    return {"body": body[:at] + noise + body[at:]}


def _empty(_body: str, _: Parts, draw: random.Random) -> Parts:
    return {"body": draw.choice(("", " ", "null", "[]", '""', "0", "\xef\xbb\xbf{}", "{}{}", "{}\x00"))}


def _bare(_body: str, parts: Parts, draw: random.Random) -> Parts:
    return {"body": draw.choice(RAW_JSON), **_typed(parts, draw)}


def _encoded(body: str, _: Parts, draw: random.Random) -> Parts:
    kind = draw.choice(("utf-16", "utf-32", "utf-7", "cp037"))
    return {"body": body.encode(kind, "replace").decode("latin-1")}


def _compressed(body: str, parts: Parts, draw: random.Random) -> Parts:
    squeeze: Callable[[bytes], bytes] = draw.choice((gzip.compress, zlib.compress, base64.b64encode))
    named = [pair for pair in parts["headers"] if draw.random() < 0.9]
    plain = body.encode("latin-1") if draw.random() < 0.8 else b"{" + b" " * 500_000 + b"}"
    return {"body": squeeze(plain).decode("latin-1"), "headers": [*named, ("content-encoding", "gzip")]}


def _formed(body: str, parts: Parts, draw: random.Random) -> Parts:
    others = [pair for pair in parts["headers"] if pair[0] != "content-type"]
    if draw.random() < 0.5:
        kind, form = "application/x-www-form-urlencoded", f"a={quote(body)}&user_id=ann"
    else:
        kind = "multipart/form-data; boundary=b"
        form = f'--b\r\ncontent-disposition: form-data; name="file"; filename="x"\r\n\r\n{body}\r\n--b--'
    return {"body": form, "headers": [*others, ("content-type", kind)]}


def _huge(body: str, _: Parts, draw: random.Random) -> Parts:
    size = draw.choice((70_000, 300_000, 1 << 20, (1 << 20) + 1)) if draw.random() < 0.3 else 20_000
    return {"body": draw.choice((body + " " * size, '{"a":"' + "a" * size + '"}', "[" + "0," * (size // 2) + "0]"))}


BODIES = (_truncated, _flipped, _inserted, _empty, _bare, _encoded, _compressed, _formed, _huge)
"""What is done to a body as bytes."""
