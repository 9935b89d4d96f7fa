"""The emulated S3 keeps bytes, types and conditions as the real one does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import requests
from botocore.exceptions import ClientError

from tests.emulator.cloud import Cloud, emulated_cloud

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def cloud() -> Iterator[Cloud]:
    with emulated_cloud() as started:
        yield started


def put(cloud: Cloud, key: str, body: bytes = b"bytes", **more: Any) -> str:
    return cloud.aws.s3.put_object(Bucket=cloud.bucket_name, Key=key, Body=body, **more)["ETag"]


def get(cloud: Cloud, key: str, **more: Any) -> Any:
    return cloud.aws.s3.get_object(Bucket=cloud.bucket_name, Key=key, **more)


def refused(status: int) -> Any:
    return pytest.raises(ClientError, match=rf"\({status}\)|PreconditionFailed|NoSuchKey|InvalidRange")


@pytest.mark.parametrize(
    "content_type",
    ["application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain; charset=utf-16", "a/b"],
)
@pytest.mark.parametrize("body", [b"", b"key=value&key=other", b"--x\r\n\r\n", bytes(range(256))])
def test_bytes_and_content_type_come_back_as_they_went(cloud: Cloud, content_type: str, body: bytes) -> None:
    put(cloud, "k", body, ContentType=content_type, Metadata={"owner": "pk|sk", "under_score": "1"})
    answer = get(cloud, "k")
    assert answer["Body"].read() == body
    assert answer["ContentType"] == content_type
    assert answer["Metadata"] == {"owner": "pk|sk", "under_score": "1"}
    assert answer["ContentLength"] == len(body)


@pytest.mark.parametrize("key", ["a b/c+d", "é/中文", "x?y#z&w=%41", "a//b", "./..", "~"])
def test_any_key_can_be_written_read_listed_copied_and_deleted(cloud: Cloud, key: str) -> None:
    put(cloud, key)
    assert get(cloud, key)["Body"].read() == b"bytes"
    assert cloud.object_keys() == [key]
    source = {"Bucket": cloud.bucket_name, "Key": key}
    cloud.aws.s3.copy_object(Bucket=cloud.bucket_name, Key="copy", CopySource=source)  # type: ignore[arg-type]
    cloud.aws.s3.delete_objects(Bucket=cloud.bucket_name, Delete={"Objects": [{"Key": key}]})
    assert cloud.object_keys() == ["copy"]


def test_ranges_are_served_and_ranges_outside_refused(cloud: Cloud) -> None:
    put(cloud, "k", b"0123456789")
    assert get(cloud, "k", Range="bytes=2-4")["Body"].read() == b"234"
    assert get(cloud, "k", Range="bytes=-3")["Body"].read() == b"789"
    with refused(416):
        get(cloud, "k", Range="bytes=10-")


def test_a_put_that_may_not_overwrite_does_not(cloud: Cloud) -> None:
    etag = put(cloud, "k", b"one", IfNoneMatch="*")
    with refused(412):
        put(cloud, "k", b"two", IfNoneMatch="*")
    with refused(412):
        put(cloud, "k", b"two", IfMatch='"other"')
    put(cloud, "k", b"three", IfMatch=etag)
    assert get(cloud, "k")["Body"].read() == b"three"


def test_a_copy_holds_its_conditions_and_takes_new_metadata(cloud: Cloud) -> None:
    etag = put(cloud, "a", ContentType="text/x", Metadata={"owner": "old"})
    copy: Any = cloud.aws.s3.copy_object
    source = {"Bucket": cloud.bucket_name, "Key": "a"}
    with refused(412):
        copy(Bucket=cloud.bucket_name, Key="b", CopySource=source, CopySourceIfMatch='"other"')
    with refused(404):
        copy(Bucket=cloud.bucket_name, Key="b", CopySource={**source, "Key": "missing"}, CopySourceIfMatch=etag)
    copy(
        Bucket=cloud.bucket_name,
        Key="b",
        CopySource=source,
        CopySourceIfMatch=etag,
        MetadataDirective="REPLACE",
        Metadata={"owner": "new"},
    )
    assert get(cloud, "b")["Metadata"] == {"owner": "new"}
    copy(Bucket=cloud.bucket_name, Key="c", CopySource=source)
    assert get(cloud, "c")["ContentType"] == "text/x"
    with refused(412):
        copy(Bucket=cloud.bucket_name, Key="c", CopySource=source, IfNoneMatch="*")


def test_a_listing_pages_by_prefix_in_byte_order(cloud: Cloud) -> None:
    for key in ("r7/b", "r7/a", "r7/é", "r70", "r30/x", "r7/a/z"):
        put(cloud, key)
    first = cloud.aws.s3.list_objects_v2(Bucket=cloud.bucket_name, Prefix="r7/", MaxKeys=2)
    assert [found["Key"] for found in first["Contents"]] == ["r7/a", "r7/a/z"]
    rest = cloud.aws.s3.list_objects_v2(
        Bucket=cloud.bucket_name, Prefix="r7/", ContinuationToken=first["NextContinuationToken"]
    )
    assert [found["Key"] for found in rest["Contents"]] == ["r7/b", "r7/é"]
    assert not rest["IsTruncated"]
    after = cloud.aws.s3.list_objects_v2(Bucket=cloud.bucket_name, Prefix="r7/", StartAfter="r7/b")
    assert [found["Key"] for found in after["Contents"]] == ["r7/é"]
    folders = cloud.aws.s3.list_objects_v2(Bucket=cloud.bucket_name, Delimiter="/")
    assert [found["Prefix"] for found in folders["CommonPrefixes"]] == ["r30/", "r7/"]


def test_deleting_what_is_not_there_is_fine(cloud: Cloud) -> None:
    cloud.aws.s3.delete_object(Bucket=cloud.bucket_name, Key="never")
    answer = cloud.aws.s3.delete_objects(Bucket=cloud.bucket_name, Delete={"Objects": [{"Key": "never"}]})
    assert "Errors" not in answer
    with refused(404):
        cloud.aws.s3.head_object(Bucket=cloud.bucket_name, Key="never")


def test_a_multipart_upload_becomes_one_object(cloud: Cloud) -> None:
    s3, bucket = cloud.aws.s3, cloud.bucket_name
    upload = s3.create_multipart_upload(Bucket=bucket, Key="big")["UploadId"]
    parts = [b"x" * (5 << 20), b"end"]
    etags = [
        s3.upload_part(Bucket=bucket, Key="big", UploadId=upload, PartNumber=number, Body=part)["ETag"]
        for number, part in enumerate(parts, 1)
    ]
    done: Any = {"Parts": [{"PartNumber": number, "ETag": etag} for number, etag in enumerate(etags, 1)]}
    s3.complete_multipart_upload(Bucket=bucket, Key="big", UploadId=upload, MultipartUpload=done)
    answer = get(cloud, "big")
    assert answer["Body"].read() == b"".join(parts)
    assert answer["ETag"].endswith('-2"')


def test_a_presigned_put_is_taken_over_http_in_the_tests_too(cloud: Cloud) -> None:
    parameters = {"Bucket": cloud.bucket_name, "Key": "up/1", "ContentLength": 5, "IfNoneMatch": "*"}
    url = cloud.aws.s3.generate_presigned_url("put_object", Params=parameters, ExpiresIn=60)
    headers = {"If-None-Match": "*", "Content-Type": "application/x-www-form-urlencoded"}
    assert requests.put(url, data=b"a=b&c", headers=headers, timeout=60).status_code == 200
    assert get(cloud, "up/1")["Body"].read() == b"a=b&c"
    assert requests.put(url, data=b"a=b&c", headers=headers, timeout=60).status_code == 412


def test_replaced_and_deleted_bytes_are_forgotten(cloud: Cloud) -> None:
    blobs: Any = cloud.emulator.journal.blobs
    for body in (b"one", b"two"):
        put(cloud, "k", body)
    assert list(blobs._kept.values()) == [b"two"]
    cloud.aws.s3.delete_object(Bucket=cloud.bucket_name, Key="k")
    assert blobs._kept == {}
