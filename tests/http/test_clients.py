from __future__ import annotations

from urllib.parse import urlsplit

import pytest

from shared.aws.clients import Aws
from shared.aws.objects import Objects


@pytest.fixture(autouse=True)
def _credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("ACCESS_KEY_ID", "x"), ("SECRET_ACCESS_KEY", "y"), ("DEFAULT_REGION", "eu-central-1")):
        monkeypatch.setenv(f"AWS_{name}", value)


@pytest.mark.parametrize(
    ("environ", "host", "path"),
    [
        ({}, "bucket.s3.eu-central-1.amazonaws.com", "/up/key"),
        ({"PRESIGN_ENDPOINT_URL": "http://127.0.0.1:1/_s3"}, "127.0.0.1:1", "/_s3/bucket/up/key"),
    ],
)
def test_presigned_urls_name_the_buckets_own_region(environ: dict[str, str], host: str, path: str) -> None:
    url = urlsplit(Objects(Aws(environ), "bucket").presign_put("up/key", size=1, seconds=9)[0])
    assert (url.netloc, url.path) == (host, path)
