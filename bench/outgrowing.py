"""The plan past one stack: at which numbers each limit is met, by arithmetic from what was measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from shared.retention.records import DUE_SPREAD

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench.costs import Cost
    from bench.kept import Kept
    from bench.prices import Prices
    from infra.local.stack import Stack


ABOVE = """Each number is worked out anew from what was measured above. Local indexes hold all rows of one partition key
together: it has at most 10 GB, and the throughput of one partition, however large the table is."""

BELOW = """No row of one tenant names another's, and no tenant is in two stacks. So the way past each of these limits is
one stack more, in the same account or another, with new tenants in it. What that takes is a table of tenants and
addresses before the gateway, which nothing needs until then. Moving a tenant is a copy of its partitions, whose keys
begin with its name, and of its objects, whose keys hold it."""


@dataclass(frozen=True)
class Limit:
    """A limit, the arithmetic by which it is met, the number, and what is to be done then."""

    what: str
    arithmetic: str
    number: float
    of: str
    then: str

    def row(self) -> str:
        """Return its row in the table."""
        return f"| {self.what} | {self.arithmetic} | **{_rounded(self.number)}** {self.of} | {self.then} |"


def outgrown(costs: list[Cost], kept: list[Kept], production: Stack, prices: Prices) -> Iterator[str]:
    """Yield the section of the page."""
    yield "## The plan past one stack"
    yield ""
    yield ABOVE
    yield ""
    yield "| limit | arithmetic | met at | then |"
    yield "| --- | --- | ---: | --- |"
    for limit in (
        *_collections(kept, prices),
        *_rates(costs, prices),
        *_search(prices),
        *_quotas(costs, production, prices),
    ):
        yield limit.row()
    yield ""
    yield BELOW
    yield ""


def _collections(kept: list[Kept], prices: Prices) -> Iterator[Limit]:
    tasks, files, learnt = (one.partitions for one in kept)
    size = prices.assumed("collection_bytes")
    for what, measured, of, then in (
        ("a project's tasks (`P#`)", tasks["P"], "tasks a project at a time", "shorter retention, or more projects"),
        ("a store's live memories (`H#`)", files["H"], "memories a store (the limit is 10,000)", "nothing"),
        ("a store's versions (`V#`)", files["V"], "versions a store", "`VersionRetentionDays`, or a new store"),
        ("a user's memories (`L#`)", learnt["L"], "memories a user", "another `user_id`, or a project more"),
    ):
        yield Limit(f"10 GB: {what}", f"10 GB / {measured:,.0f} bytes", size / measured, of, then)


def _rates(costs: list[Cost], prices: Prices) -> Iterator[Limit]:
    units = {cost.name: cost.units for cost in costs}
    writes, reads = prices.assumed("partition_writes"), prices.assumed("partition_reads")
    slower = "`TableThrottled` rings; a rate limit for the key, or more projects"
    for name, of, then in (
        ("put turn, existing task", "turns a second and project", slower),
        ("put turn, new task", "new tasks a second and project", slower),
        ("create memory", "creates a second and store", "more stores"),
        ("the same, learnt by rules", "adds a second and user (they take turns anyway)", "nothing"),
    ):
        used = units[name].busiest
        yield Limit(
            f"1,000 writes: {name}", f"1,000 / {used:g} units of the busiest partition", writes / used, of, then
        )
    added, learnt = units["add of 5 messages, accepted"].due, units["the same, learnt by rules"].due
    yield Limit(
        "1,000 writes: the sweeper's index",
        f"{DUE_SPREAD} buckets x 1,000 / ({added:g} + {learnt:g}) units",
        DUE_SPREAD * writes / (added + learnt),
        "adds a second and stack",
        "`DUE_SPREAD` in `shared/retention/records.py`; a stack more",
    )
    for name, of in (
        ("list tasks", "lists a second and project"),
        ("digest, not modified", "digests asked for a second and project"),
    ):
        used = units[name].reads
        yield Limit(
            f"3,000 reads: {name}",
            f"3,000 / {used:g} units",
            reads / used,
            of,
            "conditional requests; a cache before the gateway",
        )


def _search(prices: Prices) -> Iterator[Limit]:
    dimension = prices.assumed("vector_dimension")
    stored = prices.assumed("passage_text_bytes") + 2 * 4 * dimension
    shard = prices.assumed("shard_bytes")
    yield Limit(
        "a shard of 30 GB",
        f"30 GB / ({prices.assumed('passage_text_bytes'):,.0f} + 2 x 4 x {dimension:g}) bytes",
        shard / stored,
        "passages a shard",
        '`make reindex ARGS="--shards n"`',
    )
    graph = 1.1 * (4 * dimension + 8 * 16)
    memory = prices.assumed("node_memory_bytes")
    yield Limit(
        "memory of a node for vectors",
        f"(4 GiB - 2 GiB heap) x 50 % / (1.1 x (4 x {dimension:g} + 8 x 16)) bytes",
        memory / 2 * 0.5 / graph,
        "passages a node, with its replicas",
        "larger nodes, then more; see `infra/search.yaml`",
    )


def _quotas(costs: list[Cost], production: Stack, prices: Prices) -> Iterator[Limit]:
    by_name = {cost.name: cost for cost in costs}
    put, learn, search = (by_name[n] for n in ("put turn, existing task", "the same, learnt by rules", "search"))
    concurrency = prices.assumed("concurrency")
    workers = next(f.queues[0].width for f in production.functions() if f.name == "WorkerFunction")
    yield Limit(
        "the worker's concurrency",
        f"{workers} / {learn.lambda_ms:.0f} ms",
        workers * 1000 / learn.lambda_ms,
        "adds a second and stack",
        "`WorkerConcurrency`",
    )
    for cost, of in ((put, "turns a second and account"), (search, "searches a second and account")):
        yield Limit(
            f"functions at once: {cost.name}",
            f"{concurrency:,.0f} / {cost.lambda_ms:.0f} ms",
            concurrency * 1000 / cost.lambda_ms,
            of,
            "a higher quota; an account more",
        )
    table = prices.assumed("table_units")
    yield Limit(
        "a table's first quota of writes",
        f"{table:,.0f} / {put.units.writes:g} units",
        table / put.units.writes,
        "turns a second and table",
        "a higher quota; a stack more",
    )
    sends = prices.assumed("fifo_sends")
    yield Limit("a FIFO queue", f"{sends:,.0f} calls", sends, "adds a second and stack", "a stack more")
    puts = prices.assumed("s3_prefix_puts")
    yield Limit(
        "a prefix of the bucket",
        f"{puts:,.0f} PUT",
        puts,
        "objects a second, day and project",
        "S3 divides it by itself",
    )
    gateway = prices.assumed("gateway_requests")
    yield Limit("the gateway", f"{gateway:,.0f} requests", gateway, "requests a second and account", "an account more")


def _rounded(number: float) -> str:
    """Write a number with the two digits that mean something."""
    digits = max(0, len(str(int(number))) - 2)
    return f"{round(number, -digits):,.0f}"
