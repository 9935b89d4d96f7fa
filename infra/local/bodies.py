"""A client's request as moto reads it: its body is bytes, once, whatever its type.

moto would parse a form that is stored as an object, and copies a large body piece by piece, several times.
"""

from __future__ import annotations

import base64
import binascii
from typing import Any

from botocore.awsrequest import AWSPreparedRequest
from botocore.httpchecksum import AwsChunkedWrapper
from moto.core.request import Request, normalize_request
from werkzeug.datastructures import ImmutableMultiDict

CHUNKED_HEADERS = frozenset({"content-encoding", "x-amz-trailer", "x-amz-decoded-content-length", "transfer-encoding"})


def plain_request(request: Any) -> Request:
    """Return moto's form of a request."""
    if not isinstance(request, AWSPreparedRequest):
        return normalize_request(request)
    body, headers = _unwrapped(request)
    if headers.get("x-amz-sdk-checksum-algorithm") == "CRC32" and "x-amz-checksum-crc32" not in headers:
        # moto would look for it in the bytes themselves.
        headers["x-amz-checksum-crc32"] = base64.b64encode(binascii.crc32(body).to_bytes(4, "big")).decode()
    content_type = headers.pop("content-type", "")
    plain = Request.from_primitives(request.method, request.url, headers, b"")
    plain.environ["CONTENT_LENGTH"] = str(len(body))
    if content_type:
        plain.environ["CONTENT_TYPE"] = content_type
    plain.__dict__.update(_cached_data=body, form=ImmutableMultiDict(), files=ImmutableMultiDict())
    return plain


def _unwrapped(request: AWSPreparedRequest) -> tuple[bytes, dict[str, str]]:
    headers = {name.lower(): _text(value) for name, value in request.headers.items()}
    body: Any = request.body
    if isinstance(body, AwsChunkedWrapper):
        body = vars(body)["_raw"].read()  # encoding it in chunks, to decode them again, is quadratic
        encoding = headers.get("content-encoding", "").replace("aws-chunked", "").strip(",")
        headers = {name: value for name, value in headers.items() if name not in CHUNKED_HEADERS}
        headers["x-amz-content-sha256"] = "UNSIGNED-PAYLOAD"
        if encoding:
            headers["content-encoding"] = encoding
    elif hasattr(body, "read"):
        body = body.read()
    return (body.encode() if isinstance(body, str) else bytes(body or b"")), headers


def _text(value: Any) -> str:
    return value.decode("utf-8") if isinstance(value, bytes) else str(value)
