"""The emulated DynamoDB keeps the promises of the real one that the product rests on."""

from __future__ import annotations

import gc
import threading
import time
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest
from botocore.exceptions import ClientError

from infra.local.objects import StoredKey
from infra.local.transactions import Conflicts
from tests.emulator.cloud import Cloud, emulated_cloud

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

N = {"#n": "n"}


@pytest.fixture
def cloud() -> Iterator[Cloud]:
    with emulated_cloud() as started:
        yield started


def dynamodb(cloud: Cloud) -> Any:
    return cloud.aws.dynamodb


def row(pk: str, sk: str, **more: Any) -> dict[str, Any]:
    return {"pk": {"S": pk}, "sk": {"S": sk}, **{name: {"S": value} for name, value in more.items()}}


def put(cloud: Cloud, pk: str, sk: str, **more: Any) -> None:
    cloud.aws.dynamodb.put_item(TableName=cloud.table_name, Item=row(pk, sk, **more))


def get(cloud: Cloud, pk: str, sk: str) -> dict[str, Any] | None:
    item: dict[str, Any] | None = dynamodb(cloud).get_item(TableName=cloud.table_name, Key=row(pk, sk)).get("Item")
    return item


def query(cloud: Cloud, condition: str, values: dict[str, str], **options: Any) -> dict[str, Any]:
    typed = {name: {"S": value} for name, value in values.items()}
    answer: dict[str, Any] = dynamodb(cloud).query(
        TableName=cloud.table_name, KeyConditionExpression=condition, ExpressionAttributeValues=typed, **options
    )
    return answer


def keys(answer: dict[str, Any]) -> list[str]:
    return [item["sk"]["S"] for item in answer["Items"]]


def in_parallel(count: int, work: Callable[[int], Any]) -> list[Any]:
    barrier = threading.Barrier(count)

    def run(number: int) -> Any:
        barrier.wait()
        try:
            return work(number)
        except ClientError as error:
            return error

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(run, range(count)))


def increment(cloud: Cloud, pk: str = "p", sk: str = "a") -> dict[str, Any]:
    return {
        "TableName": cloud.table_name,
        "Key": row(pk, sk),
        "UpdateExpression": "ADD #n :one",
        "ExpressionAttributeNames": N,
        "ExpressionAttributeValues": {":one": {"N": "1"}},
    }


@pytest.mark.parametrize(
    ("condition", "values", "found"),
    [
        ("pk = :p", {":p": "p"}, ["a", "aa", "b", "c"]),
        ("pk = :p AND sk = :s", {":p": "p", ":s": "aa"}, ["aa"]),
        ("pk = :p AND sk < :s", {":p": "p", ":s": "b"}, ["a", "aa"]),
        ("pk = :p AND sk <= :s", {":p": "p", ":s": "b"}, ["a", "aa", "b"]),
        ("pk = :p AND sk > :s", {":p": "p", ":s": "aa"}, ["b", "c"]),
        ("pk = :p AND sk >= :s", {":p": "p", ":s": "aa"}, ["aa", "b", "c"]),
        ("pk = :p AND sk BETWEEN :s AND :t", {":p": "p", ":s": "aa", ":t": "b"}, ["aa", "b"]),
        ("pk = :p AND begins_with(sk, :s)", {":p": "p", ":s": "a"}, ["a", "aa"]),
        ("pk = :p", {":p": "nobody"}, []),
    ],
)
def test_a_query_gives_its_span_in_order_both_ways(
    cloud: Cloud, condition: str, values: dict[str, str], found: list[str]
) -> None:
    for sk in ("c", "aa", "a", "b"):
        put(cloud, "p", sk)
    put(cloud, "other", "a")
    assert keys(query(cloud, condition, values)) == found
    assert keys(query(cloud, condition, values, ScanIndexForward=False)) == found[::-1]


def test_strings_sort_by_their_utf8_bytes(cloud: Cloud) -> None:
    names = ["\U0001f600", "ﬀ", "z", "é", "Z", "~"]
    for name in names:
        put(cloud, "p", name)
    assert keys(query(cloud, "pk = :p", {":p": "p"})) == sorted(names, key=str.encode)


def test_a_page_that_is_full_has_a_key_even_when_nothing_follows(cloud: Cloud) -> None:
    for sk in "ab":
        put(cloud, "p", sk)
    first = query(cloud, "pk = :p", {":p": "p"}, Limit=2)
    assert keys(first) == ["a", "b"]
    rest = query(cloud, "pk = :p", {":p": "p"}, Limit=2, ExclusiveStartKey=first["LastEvaluatedKey"])
    assert keys(rest) == []
    assert "LastEvaluatedKey" not in rest


def test_a_walk_goes_on_after_a_key_that_was_deleted_meanwhile(cloud: Cloud) -> None:
    for sk in "abcd":
        put(cloud, "p", sk)
    first = query(cloud, "pk = :p", {":p": "p"}, Limit=2, ScanIndexForward=False)
    cloud.aws.dynamodb.delete_item(TableName=cloud.table_name, Key=row("p", "c"))
    options = {"ExclusiveStartKey": first["LastEvaluatedKey"], "ScanIndexForward": False}
    assert keys(query(cloud, "pk = :p", {":p": "p"}, **options)) == ["b", "a"]


def test_a_page_ends_with_the_item_that_passes_a_mebibyte(cloud: Cloud) -> None:
    for number in range(12):
        put(cloud, "p", f"{number:02}", text="x" * 100_000)
    first = query(cloud, "pk = :p", {":p": "p"})
    assert len(first["Items"]) == 11
    assert len(query(cloud, "pk = :p", {":p": "p"}, ExclusiveStartKey=first["LastEvaluatedKey"])["Items"]) == 1


def test_a_filter_comes_after_the_limit(cloud: Cloud) -> None:
    for sk in "abc":
        put(cloud, "p", sk, kind="odd" if sk == "b" else "even")
    answer = cloud.aws.dynamodb.query(
        TableName=cloud.table_name,
        KeyConditionExpression="pk = :p",
        FilterExpression="kind = :k",
        ExpressionAttributeValues={":p": {"S": "p"}, ":k": {"S": "odd"}},
        Limit=1,
    )
    assert (answer["Count"], answer["ScannedCount"]) == (0, 1)
    assert answer["LastEvaluatedKey"]["sk"] == {"S": "a"}


def test_a_starting_key_of_another_partition_or_shape_is_refused(cloud: Cloud) -> None:
    for start in (row("other", "a"), row("p", "a", l1="x")):
        with pytest.raises(ClientError, match="starting key"):
            query(cloud, "pk = :p", {":p": "p"}, ExclusiveStartKey=start)


def test_a_local_index_follows_every_write_at_once(cloud: Cloud) -> None:
    for sk, l1 in (("a", "3"), ("b", "1"), ("c", "2")):
        put(cloud, "p", sk, l1=l1)
    put(cloud, "p", "hidden")
    put(cloud, "p", "a", l1="0")
    cloud.aws.dynamodb.update_item(
        TableName=cloud.table_name,
        Key=row("p", "b"),
        UpdateExpression="SET l1 = :v",
        ExpressionAttributeValues={":v": {"S": "9"}},
    )
    assert keys(query(cloud, "pk = :p", {":p": "p"}, IndexName="by_l1")) == ["a", "c", "b"]
    cloud.aws.dynamodb.update_item(TableName=cloud.table_name, Key=row("p", "c"), UpdateExpression="REMOVE l1")
    assert keys(query(cloud, "pk = :p", {":p": "p"}, IndexName="by_l1")) == ["a", "b"]


def test_equal_index_values_page_without_skip_or_repeat(cloud: Cloud) -> None:
    for sk in "dacb":
        put(cloud, "p", sk, l1="same")
    walked: list[str] = []
    start: dict[str, Any] = {}
    while True:
        answer = query(cloud, "pk = :p", {":p": "p"}, IndexName="by_l1", Limit=1, **start)
        walked += keys(answer)
        if "LastEvaluatedKey" not in answer:
            break
        start = {"ExclusiveStartKey": answer["LastEvaluatedKey"]}
    assert walked == ["a", "b", "c", "d"]


def test_a_keys_only_index_holds_the_keys_only_but_fetches_what_is_asked_for(cloud: Cloud) -> None:
    put(cloud, "p", "a", l2="x", text="long")
    bare = query(cloud, "pk = :p", {":p": "p"}, IndexName="by_l2")
    assert bare["Items"] == [row("p", "a", l2="x")]
    chosen = cloud.aws.dynamodb.query(
        TableName=cloud.table_name,
        IndexName="by_l2",
        KeyConditionExpression="pk = :p",
        ProjectionExpression="#t",
        ExpressionAttributeNames={"#t": "text"},
        ExpressionAttributeValues={":p": {"S": "p"}},
    )
    assert chosen["Items"] == [{"text": {"S": "long"}}]


def test_a_global_index_spans_partitions_is_never_consistent_and_can_be_stale(cloud: Cloud) -> None:
    put(cloud, "p", "a", due="now")
    put(cloud, "q", "b", due="now")
    assert keys(query(cloud, "due = :d", {":d": "now"}, IndexName="due")) == ["a", "b"]
    with pytest.raises(ClientError, match="Consistent reads"):
        query(cloud, "due = :d", {":d": "now"}, IndexName="due", ConsistentRead=True)
    with cloud.emulator.stale_global_indexes(cloud.table_name):
        cloud.aws.dynamodb.delete_item(TableName=cloud.table_name, Key=row("p", "a"))
        put(cloud, "r", "c", due="now")
        assert keys(query(cloud, "due = :d", {":d": "now"}, IndexName="due")) == ["a", "b"]
    assert keys(query(cloud, "due = :d", {":d": "now"}, IndexName="due")) == ["b", "c"]


@pytest.mark.parametrize("bad", [{"l1": {"N": "1"}}, {"due": {"S": ""}}, {"l2": {"S": "x" * 1025}}])
def test_an_index_key_of_a_wrong_type_or_size_is_refused_and_changes_nothing(cloud: Cloud, bad: dict[str, Any]) -> None:
    put(cloud, "p", "a", l1="1")
    with pytest.raises(ClientError, match="ValidationException"):
        cloud.aws.dynamodb.put_item(TableName=cloud.table_name, Item=row("p", "a") | bad)
    ((name, value),) = bad.items()
    with pytest.raises(ClientError, match="ValidationException"):
        cloud.aws.dynamodb.update_item(
            TableName=cloud.table_name,
            Key=row("p", "a"),
            UpdateExpression="SET #a = :v",
            ExpressionAttributeNames={"#a": name},
            ExpressionAttributeValues={":v": value},
        )
    assert get(cloud, "p", "a") == row("p", "a", l1="1")


def test_a_scan_gives_every_item_once(cloud: Cloud) -> None:
    expected = {(pk, sk) for pk in "pqr" for sk in "abc"}
    for pk, sk in expected:
        put(cloud, pk, sk)
    pages = cloud.aws.dynamodb.get_paginator("scan").paginate(
        TableName=cloud.table_name, PaginationConfig={"PageSize": 2}
    )
    found = [(item["pk"]["S"], item["sk"]["S"]) for page in pages for item in page["Items"]]
    assert sorted(found) == sorted(expected)


def test_binary_numbers_sets_lists_and_maps_come_back_as_they_went(cloud: Cloud) -> None:
    item: dict[str, Any] = row("p", "a") | {
        "b": {"B": b"\x00\xff"},
        "bs": {"BS": [b"\x01", b"\x02"]},
        "n": {"N": "0.1"},
        "m": {"M": {"l": {"L": [{"NULL": True}, {"BOOL": False}, {"B": b"z"}]}, "e": {"S": ""}}},
    }
    cloud.aws.dynamodb.put_item(TableName=cloud.table_name, Item=item)
    assert get(cloud, "p", "a") == item
    assert cloud.aws.dynamodb.scan(TableName=cloud.table_name)["Items"] == [item]


def test_no_increment_is_lost_under_threads(cloud: Cloud) -> None:
    in_parallel(20, lambda _: [cloud.aws.dynamodb.update_item(**increment(cloud)) for _ in range(10)])
    item = get(cloud, "p", "a")
    assert item is not None
    assert item["n"] == {"N": "200"}


def test_one_of_many_transactions_on_one_condition_wins_whole(cloud: Cloud) -> None:
    def claim(number: int) -> Any:
        taken = {
            "TableName": cloud.table_name,
            "Item": row("p", "a"),
            "ConditionExpression": "attribute_not_exists(pk)",
        }
        other = {"TableName": cloud.table_name, "Item": row("winner", str(number))}
        return dynamodb(cloud).transact_write_items(TransactItems=[{"Put": other}, {"Put": taken}])

    outcomes = in_parallel(30, claim)
    assert sum(not isinstance(outcome, ClientError) for outcome in outcomes) == 1
    assert len(keys(query(cloud, "pk = :p", {":p": "winner"}))) <= 1
    assert len(cloud.items()) == 2


def test_a_cancelled_transaction_leaves_nothing_and_says_what_was_there(cloud: Cloud) -> None:
    put(cloud, "p", "a", kind="old")
    update = {
        **increment(cloud),
        "ConditionExpression": "attribute_not_exists(kind)",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    }
    new = {"TableName": cloud.table_name, "Item": row("p", "new")}
    counted = increment(cloud, sk="counter")
    with pytest.raises(ClientError) as caught:
        dynamodb(cloud).transact_write_items(TransactItems=[{"Put": new}, {"Update": counted}, {"Update": update}])
    response: Any = caught.value.response
    assert [reason["Code"] for reason in response["CancellationReasons"]] == ["None", "None", "ConditionalCheckFailed"]
    assert response["CancellationReasons"][2]["Item"] == row("p", "a", kind="old")
    assert cloud.items() == [row("p", "a", kind="old")]


def test_a_failed_update_changes_nothing(cloud: Cloud) -> None:
    with pytest.raises(ClientError):
        cloud.aws.dynamodb.update_item(
            TableName=cloud.table_name,
            Key=row("p", "a"),
            UpdateExpression="SET a = :v, b = missing",
            ExpressionAttributeValues={":v": {"S": "x"}},
        )
    assert cloud.items() == []


def test_a_repeated_client_token_is_applied_once(cloud: Cloud) -> None:
    for _ in range(3):
        dynamodb(cloud).transact_write_items(TransactItems=[{"Update": increment(cloud)}], ClientRequestToken="token")
    item = get(cloud, "p", "a")
    assert item is not None
    assert item["n"] == {"N": "1"}
    with pytest.raises(ClientError, match="IdempotentParameterMismatch"):
        dynamodb(cloud).transact_write_items(
            TransactItems=[{"Update": increment(cloud, sk="b")}], ClientRequestToken="token"
        )


def test_calls_leave_nothing_in_memory_but_what_is_stored() -> None:
    with emulated_cloud():
        pass  # moto begins to list all instances again when an emulator has stopped
    with emulated_cloud() as cloud:
        cloud.aws.s3.put_object(Bucket=cloud.bucket_name, Key="r7/k", Body=b"x")
        tracemalloc.start()
        try:
            for _ in range(30):
                item = {"Put": {"TableName": cloud.table_name, "Item": row("p", "a", text="x" * 300_000)}}
                dynamodb(cloud).transact_write_items(TransactItems=[item])
                cloud.aws.s3.head_object(Bucket=cloud.bucket_name, Key="r7/k")
            gc.collect()
            kept, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        keys_kept = [each for each in gc.get_objects() if isinstance(each, StoredKey)]
    assert kept < 5_000_000
    assert len(keys_kept) < 10


def test_a_transaction_above_4_mib_is_refused(cloud: Cloud) -> None:
    puts = [{"Put": {"TableName": cloud.table_name, "Item": row("p", str(n), text="x" * 390_000)}} for n in range(12)]
    with pytest.raises(ClientError, match="4 MB"):
        dynamodb(cloud).transact_write_items(TransactItems=puts)
    assert cloud.items() == []


def test_a_key_without_its_sort_key_is_refused(cloud: Cloud) -> None:
    half = {"pk": {"S": "p"}}
    change = {"TableName": cloud.table_name, "Key": half, "UpdateExpression": "REMOVE x"}
    calls: list[Callable[[], Any]] = [
        lambda: dynamodb(cloud).update_item(**change),
        lambda: dynamodb(cloud).transact_write_items(TransactItems=[{"Update": change}]),
        lambda: dynamodb(cloud).get_item(TableName=cloud.table_name, Key=half),
    ]
    for call in calls:
        with pytest.raises(ClientError, match="ValidationException"):
            call()
    assert cloud.items() == []


@pytest.mark.parametrize("key", [("p" * 2049, "a"), ("p", "a" * 1025), ("p", "\u00e9" * 513), ("p", ""), ("", "a")])
def test_a_key_that_no_item_can_have_is_refused_by_reads_and_writes(cloud: Cloud, key: tuple[str, str]) -> None:
    put(cloud, "p", "a")
    name = row(*key)
    change = {"TableName": cloud.table_name, "Key": name, "UpdateExpression": "REMOVE x"}
    calls: list[Callable[[], Any]] = [
        lambda: get(cloud, *key),
        lambda: dynamodb(cloud).batch_get_item(RequestItems={cloud.table_name: {"Keys": [name]}}),
        lambda: dynamodb(cloud).delete_item(TableName=cloud.table_name, Key=name),
        lambda: dynamodb(cloud).update_item(**change),
        lambda: dynamodb(cloud).put_item(TableName=cloud.table_name, Item=name),
        lambda: dynamodb(cloud).transact_write_items(TransactItems=[{"Update": change}]),
        lambda: dynamodb(cloud).transact_get_items(
            TransactItems=[{"Get": {"TableName": cloud.table_name, "Key": name}}]
        ),
        lambda: query(cloud, "pk = :p AND sk = :s", {":p": key[0], ":s": key[1]}),
    ]
    for call in calls:
        with pytest.raises(ClientError, match="ValidationException"):
            call()


@pytest.mark.parametrize("number", ["1" * 39, "1." + "0" * 37 + "1", "-" + "9" * 40])
def test_a_number_of_more_than_38_digits_is_refused(cloud: Cloud, number: str) -> None:
    with pytest.raises(ClientError, match="38 significant digits"):
        dynamodb(cloud).put_item(TableName=cloud.table_name, Item=row("p", "a") | {"m": {"M": {"n": {"N": number}}}})
    assert cloud.items() == []


@pytest.mark.parametrize("number", ["1" * 38, "1" + "0" * 60, "0." + "0" * 50 + "1", "-0"])
def test_a_number_of_38_digits_is_kept(cloud: Cloud, number: str) -> None:
    dynamodb(cloud).put_item(TableName=cloud.table_name, Item=row("p", "a") | {"n": {"N": number}})
    assert cloud.items()[0]["n"] == {"N": number}


@pytest.mark.parametrize(
    ("condition", "values"),
    [
        ("pk = :p AND sk BETWEEN :a AND :b", {":a": "b", ":b": "a"}),
        ("pk = :p AND begins_with(sk, :a)", {":a": ""}),
        ("pk = :p AND sk > :a", {":a": ""}),
        ("pk = :p AND sk < :a", {":a": "x" * 1025}),
        ("pk = :p AND sk BETWEEN :a AND :b", {":a": "a", ":b": "\u00e9" * 513}),
    ],
)
def test_a_range_that_no_sort_key_can_have_is_refused(cloud: Cloud, condition: str, values: dict[str, str]) -> None:
    put(cloud, "p", "a")
    with pytest.raises(ClientError, match="ValidationException"):
        query(cloud, condition, {":p": "p", **values})


def test_an_expression_of_more_than_4_kib_is_refused(cloud: Cloud) -> None:
    condition = " OR ".join(["attribute_exists(pk)"] * 200)
    calls: list[Callable[[], Any]] = [
        lambda: dynamodb(cloud).put_item(
            TableName=cloud.table_name, Item=row("p", "a"), ConditionExpression=f"{condition} OR pk = pk"
        ),
        lambda: dynamodb(cloud).transact_write_items(
            TransactItems=[
                {"Delete": {"TableName": cloud.table_name, "Key": row("p", "a"), "ConditionExpression": condition}}
            ]
        ),
    ]
    for call in calls:
        with pytest.raises(ClientError, match="Expression size"):
            call()


def test_values_within_more_than_32_others_are_refused(cloud: Cloud) -> None:
    deep: dict[str, Any] = {"S": "x"}
    for n in range(32):
        deep = {"L": [deep]} if n % 2 else {"M": {"a": deep}}
    dynamodb(cloud).put_item(TableName=cloud.table_name, Item=row("p", "a") | {"deep": deep})
    with pytest.raises(ClientError, match="Nesting"):
        dynamodb(cloud).put_item(TableName=cloud.table_name, Item=row("p", "b") | {"deep": {"L": [deep]}})


def test_a_batch_of_more_than_25_writes_is_refused(cloud: Cloud) -> None:
    puts = [{"PutRequest": {"Item": row("p", str(number))}} for number in range(26)]
    with pytest.raises(ClientError, match="more than 25"):
        dynamodb(cloud).batch_write_item(RequestItems={cloud.table_name: puts})
    assert cloud.items() == []


def test_100_items_can_be_read_in_one_transaction(cloud: Cloud) -> None:
    put(cloud, "p", "99")
    gets: Any = [{"Get": {"TableName": cloud.table_name, "Key": row("p", str(n))}} for n in range(100)]
    answers = cloud.aws.dynamodb.transact_get_items(TransactItems=gets)["Responses"]
    assert [answer.get("Item") for answer in answers] == [None] * 99 + [row("p", "99")]


@contextmanager
def in_flight_until(over: Callable[[], bool]) -> Iterator[threading.Event]:
    """Let transactions be in flight until something holds; what is yielded tells that one is."""
    begun = threading.Event()

    def wait(_seconds: float) -> None:
        begun.set()
        end = time.monotonic() + 60
        while not over():
            assert time.monotonic() < end
            time.sleep(0.001)

    with patch("infra.local.transactions.time", SimpleNamespace(monotonic=time.monotonic, sleep=wait)):
        yield begun


def test_transactions_in_flight_that_share_an_item_conflict() -> None:
    conflicts = Conflicts()
    with emulated_cloud(conflicts=conflicts) as cloud, in_flight_until(lambda: conflicts.count == 9):
        transact = dynamodb(cloud).transact_write_items
        outcomes = in_parallel(
            10,
            lambda n: transact(TransactItems=[{"Update": increment(cloud)}, {"Update": increment(cloud, sk=str(n))}]),
        )
        refused = [outcome for outcome in outcomes if isinstance(outcome, ClientError)]
        assert len(refused) == 9
        assert conflicts.count == len(refused)
        response: Any = refused[0].response
        assert [reason["Code"] for reason in response["CancellationReasons"]] == ["TransactionConflict", "None"]
        item = get(cloud, "p", "a")
        assert item is not None
        assert item["n"] == {"N": str(10 - len(refused))}
        assert len(cloud.items()) == 1 + 10 - len(refused)


def test_a_plain_write_against_a_transaction_in_flight_conflicts() -> None:
    conflicts = Conflicts()
    with emulated_cloud(conflicts=conflicts) as cloud, in_flight_until(lambda: conflicts.count > 0) as begun:

        def work(number: int) -> Any:
            if number == 0:
                return dynamodb(cloud).transact_write_items(TransactItems=[{"Update": increment(cloud)}])
            assert begun.wait(60)
            return cloud.aws.dynamodb.update_item(**increment(cloud))

        first, second = in_parallel(2, work)
        assert isinstance(first, dict)
        assert isinstance(second, ClientError)
        assert second.response["Error"]["Code"] == "TransactionConflictException"
        cloud.aws.dynamodb.update_item(**increment(cloud))


def test_a_two_item_transaction_and_a_page_touch_as_little_among_many_items(cloud: Cloud) -> None:
    table = cloud.table
    for number in range(500):
        put(cloud, "p", f"{number:06}", l1=f"{-number:06}")
    evaluated: list[Any] = []
    texts = table.rows.items.kept

    class Counting(dict[Any, str]):
        def __getitem__(self, key: Any) -> Any:
            evaluated.append(key)
            return super().__getitem__(key)

    table.rows.items.kept = Counting(texts)
    query(cloud, "pk = :p AND l1 < :v", {":p": "p", ":v": "-000100"}, IndexName="by_l1", Limit=10)
    assert len(evaluated) == 10
    evaluated.clear()
    dynamodb(cloud).transact_write_items(
        TransactItems=[{"Update": increment(cloud)}, {"Update": increment(cloud, sk="b")}]
    )
    assert len(evaluated) < 40
