"""What S3 does with a presigned URL, for the URLs that the local run signs (`/_s3/{bucket}/{key}`).

The signature is computed anew over the request as it came and compared: one method, one object, one set of query
parameters and of signed headers, until the URL expires. Then the request goes to the emulated S3. See "Authenticating
requests: using query parameters (AWS Signature Version 4)" in the S3 API reference.
"""

from __future__ import annotations

import hmac
import time
from calendar import timegm
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote, urlencode
from xml.sax.saxutils import escape

from botocore.auth import S3SigV4QueryAuth
from botocore.awsrequest import AWSPreparedRequest, AWSRequest
from botocore.compat import HTTPHeaders
from moto.core.models import botocore_stubber

from infra.local.events import HOP_BY_HOP, Answer
from infra.local.stack import REGION

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from botocore.credentials import Credentials

    from infra.local.events import Request

PREFIX = "/_s3"
METHODS = ("GET", "HEAD", "PUT")
LONGEST = 7 * 24 * 3600
NEEDED = (
    "X-Amz-Algorithm",
    "X-Amz-Credential",
    "X-Amz-Date",
    "X-Amz-Expires",
    "X-Amz-SignedHeaders",
    "X-Amz-Signature",
)


class Refused(Exception):
    """S3's refusal of a request: a status, its error code, and why."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status, self.code, self.message = status, code, message


@dataclass(frozen=True)
class PresignedObjects:
    """Objects behind presigned URLs, for the credentials that sign them."""

    credentials: Credentials
    now: Callable[[], float] = time.time

    def answer(self, request: Request) -> Answer:
        """Answer one request as S3 would."""
        try:
            self._check(request)
        except Refused as refused:
            return _refusal(refused)
        return _forward(request)

    def _check(self, request: Request) -> None:
        if request.method not in METHODS:
            raise Refused(405, "MethodNotAllowed", "The specified method is not allowed against this resource.")
        query = dict(parse_qsl(request.query, keep_blank_values=True))
        if any(name not in query for name in NEEDED) or query["X-Amz-Algorithm"] != "AWS4-HMAC-SHA256":
            raise Refused(403, "AccessDenied", "Access Denied")
        if query["X-Amz-Credential"] != self._scope(query["X-Amz-Date"]):
            raise Refused(403, "InvalidAccessKeyId", "The credential is not one of this server.")
        headers = _sent(request)
        signed = query["X-Amz-SignedHeaders"].split(";")
        unsigned = [name for name in headers if name.startswith("x-amz-") and name not in signed]
        if "host" not in signed or unsigned:
            raise Refused(403, "AccessDenied", "There were headers present in the request which were not signed")
        expected = self._signature(request, {name: headers.get(name, "") for name in signed}, query["X-Amz-Date"])
        if not hmac.compare_digest(expected, query["X-Amz-Signature"]):
            raise Refused(403, "SignatureDoesNotMatch", "The signature does not match the request.")
        self._check_time(query["X-Amz-Date"], query["X-Amz-Expires"])

    def _scope(self, date: str) -> str:
        return f"{self.credentials.access_key}/{date[:8]}/{REGION}/s3/aws4_request"

    def _check_time(self, date: str, expires: str) -> None:
        # Both are signed by now, so they are as we wrote them.
        begin, seconds = timegm(time.strptime(date, "%Y%m%dT%H%M%SZ")), int(expires)
        if seconds > LONGEST or self.now() > begin + seconds:
            raise Refused(403, "AccessDenied", "Request has expired")

    def _signature(self, request: Request, headers: Mapping[str, str], date: str) -> str:
        pairs = [pair for pair in request.query.split("&") if not pair.startswith("X-Amz-Signature=")]
        url = f"http://{headers['host']}{request.raw_path}?{'&'.join(pairs)}"
        again: Any = AWSRequest(method=request.method, url=url, headers=dict(headers))
        again.context["timestamp"] = date
        signer: Any = S3SigV4QueryAuth(self.credentials, "s3", REGION)
        return str(signer.signature(signer.string_to_sign(again, signer.canonical_request(again)), again))


def _sent(request: Request) -> dict[str, str]:
    sent: dict[str, str] = {}
    for raw_name, raw_value in request.headers:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
        sent[name] = f"{sent[name]},{value}" if name in sent else value
    return sent


def _forward(request: Request) -> Answer:
    kept = [pair for pair in parse_qsl(request.query, keep_blank_values=True) if not pair[0].startswith("X-Amz-")]
    path = quote(request.raw_path.removeprefix(PREFIX), safe="/%")
    url = f"https://s3.{REGION}.amazonaws.com{path}" + (f"?{urlencode(kept)}" if kept else "")
    headers = {name: value for name, value in _sent(request).items() if name not in HOP_BY_HOP | {"host"}}
    headers["Authorization"] = f"AWS4-HMAC-SHA256 Credential=local/20000101/{REGION}/s3/aws4_request, presigned"
    headers["Content-Length"] = str(len(request.body))
    prepared: Any = AWSPreparedRequest(request.method, url, HTTPHeaders.from_dict(headers), request.body, False)  # noqa: FBT003
    status, found, body = botocore_stubber.process_request(prepared) or (404, {}, b"")
    told = {str(name).lower(): str(value) for name, value in dict(found).items()}
    length = told.pop("content-length", "")
    told.pop("status", None)
    data = body.encode() if isinstance(body, str) else bytes(body)
    answer = [(name.encode("latin-1"), value.encode("latin-1", "replace")) for name, value in told.items()]
    return Answer(int(status), answer, data, int(length) if length.isdigit() else None)


def _refusal(refused: Refused) -> Answer:
    body = f"<Error><Code>{refused.code}</Code><Message>{escape(refused.message)}</Message></Error>"
    text = f'<?xml version="1.0" encoding="UTF-8"?>\n{body}'
    return Answer(refused.status, [(b"content-type", b"application/xml")], text.encode())
