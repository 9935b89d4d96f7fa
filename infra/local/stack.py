"""The project's stack as its templates describe it: what to make, and each function with its events.

    stack = Stack(Path("template.yaml"), {"Stage": "dev"}, name="lodestore-local")
    make_resources(stack, aws)             # infra.local.resources: bucket, table, queues
    for function in stack.functions(): ... # handler, environment, routes, schedules

Names are computed, never asked for, so that nothing has to exist before anything else.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from infra.local.known import MADE, check_properties, check_type
from infra.local.template import Resolver, TemplateNotUnderstood, parse_template

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

REGION = "eu-central-1"
ACCOUNT = "123456789012"
NESTED = {"AWS::CloudFormation::Stack": "TemplateURL", "AWS::Serverless::Application": "Location"}
TEMPLATE = Path(__file__).parents[2] / "template.yaml"


@dataclass(frozen=True)
class Resource:
    """One resource to make: its name in AWS, its type and its properties, all values resolved."""

    name: str
    type: str
    properties: dict[str, Any]


@dataclass(frozen=True)
class Schedule:
    """When a function runs by itself (`rate(…)` or `cron(…)`) and the event, as JSON, that it is given."""

    expression: str
    input: str


@dataclass(frozen=True)
class QueueSource:
    """A queue (its URL and ARN) whose messages a function works off, `batch` at a time, in `width` instances."""

    url: str
    arn: str
    batch: int
    width: int


@dataclass(frozen=True)
class Function:
    """One function: its handler path, environment, seconds, MiB, and what invokes it."""

    name: str
    handler: str
    environment: dict[str, str]
    timeout: int
    memory: int
    routes: list[tuple[str, str]] = field(default_factory=list)
    schedules: list[Schedule] = field(default_factory=list)
    queues: list[QueueSource] = field(default_factory=list)


_parsed = cache(parse_template)
"""A template of this text, which nobody changes: tests make thousands of stacks of one text."""


class Stack:
    """One template with its parameters, and those nested in it.

    Raises:
        TemplateNotUnderstood: a type or property is neither made nor knowingly left out.
    """

    def __init__(
        self, path: Path, parameters: Mapping[str, Any] | None = None, *, name: str = "lodestore-local"
    ) -> None:
        self._path = path
        self._template = _parsed(path.read_text("utf-8"))
        self.name = name
        self._nested = cache(self._read_nested)
        self.reference = cache(self._reference)
        self._resolver = Resolver(
            self._template, self._values(parameters or {}), self.reference, attribute=self.attribute
        )

    def _values(self, given: Mapping[str, Any]) -> dict[str, Any]:
        declared = self._template.get("Parameters", {})
        unknown = sorted(set(given) - set(declared))
        if unknown:
            raise TemplateNotUnderstood(f"{self._path.name} has no parameter {', '.join(unknown)}")
        values = {name: given.get(name, parameter.get("Default")) for name, parameter in declared.items()}
        return {
            **values,
            "AWS::Region": REGION,
            "AWS::AccountId": ACCOUNT,
            "AWS::Partition": "aws",
            "AWS::StackName": self.name,
            "AWS::StackId": f"arn:aws:cloudformation:{REGION}:{ACCOUNT}:stack/{self.name}/local",
            "AWS::URLSuffix": "amazonaws.com",
        }

    @cached_property
    def outputs(self) -> dict[str, Any]:
        """The outputs whose conditions hold."""
        outputs = self._template.get("Outputs", {})
        kept = {name: output for name, output in outputs.items() if self._is_wanted(output)}
        return {name: self._resolver.resolve(output["Value"]) for name, output in kept.items()}

    def resources(self) -> Iterator[Resource]:
        """Yield the bucket, tables and queues of this stack and of those nested in it."""
        for name, kind, properties in self._known():
            if kind in NESTED:
                yield from self._nested(name).resources()
            elif not kind.startswith("AWS::Serverless::"):
                yield Resource(self.reference(name), kind, self._resolver.resolve(properties))

    def functions(self) -> list[Function]:
        """Return the functions with what invokes them."""
        return [self._function(name, p) for name, kind, p in self._known() if kind == "AWS::Serverless::Function"]

    @property
    def stage(self) -> str:
        """The name of the API's stage."""
        stages = [p.get("StageName") for _, kind, p in self._known() if kind == "AWS::Serverless::HttpApi"]
        return str(stages[0] or "$default")

    def _known(self) -> Iterator[tuple[str, str, dict[str, Any]]]:
        for name, resource in self._template["Resources"].items():
            kind, properties = resource["Type"], resource.get("Properties", {})
            made = check_type(name, kind)
            if made:
                check_properties(name, kind, properties)
            if made and self._is_wanted(resource):
                yield name, kind, properties

    def _is_wanted(self, described: Mapping[str, Any]) -> bool:
        return "Condition" not in described or self._resolver.holds(described["Condition"])

    def _read_nested(self, name: str) -> Stack:
        resource = self._template["Resources"][name]
        location = resource["Properties"][NESTED[resource["Type"]]]
        parameters = self._resolver.resolve(resource["Properties"].get("Parameters", {}))
        return Stack(self._path.parent / location, parameters, name=f"{self.name}-{name.lower()}")

    def _function(self, name: str, own: dict[str, Any]) -> Function:
        shared = self._template.get("Globals", {}).get("Function", {})
        check_properties("Globals", "AWS::Serverless::Function", shared)
        variables = [part.get("Environment", {}).get("Variables", {}) for part in (shared, own)]
        environment = self._resolver.resolve({**variables[0], **variables[1]})
        properties = {**shared, **own}
        function = Function(
            name,
            properties["Handler"],
            {key: _text(value) for key, value in environment.items()},
            int(self._resolver.resolve(properties.get("Timeout", 3))),
            int(self._resolver.resolve(properties.get("MemorySize", 128))),
        )
        for event_name, event in own.get("Events", {}).items():
            self._add_event(function, f"{name}.{event_name}", event)
        return function

    def _add_event(self, function: Function, name: str, event: Mapping[str, Any]) -> None:
        kind = f"event {event['Type']}"
        if kind not in MADE:
            raise TemplateNotUnderstood(f"{name}: {kind} is not known to the local run")
        check_properties(name, kind, event["Properties"])
        properties = self._resolver.resolve(event["Properties"])
        if kind == "event HttpApi":
            function.routes.append((properties["Method"].upper(), properties["Path"]))
        elif kind == "event Schedule" and properties.get("Enabled", True):
            function.schedules.append(Schedule(properties["Schedule"], properties.get("Input", "{}")))
        elif kind == "event SQS":
            function.queues.append(_queue_source(name, properties))

    def _reference(self, name: str) -> str:
        resource = self._template["Resources"][name]
        properties = resource.get("Properties", {})
        kind = resource["Type"]
        named = next((properties[key] for key in ("BucketName", "TableName", "QueueName") if key in properties), None)
        physical = self._resolver.resolve(named) if named else f"{self.name}-{name}".lower()
        if kind == "AWS::SQS::Queue":
            return f"https://sqs.{REGION}.amazonaws.com/{ACCOUNT}/{physical}"
        return str(physical)

    def attribute(self, name: str, attribute: str) -> Any:
        """Return an attribute of a resource, or an output of a nested stack (`Outputs.X`)."""
        kind = self._template["Resources"][name]["Type"]
        if kind in NESTED:
            return self._nested(name).outputs[attribute.removeprefix("Outputs.")]
        physical = self.reference(name).rsplit("/", 1)[-1]
        arns = {
            "AWS::S3::Bucket": f"arn:aws:s3:::{physical}",
            "AWS::DynamoDB::Table": f"arn:aws:dynamodb:{REGION}:{ACCOUNT}:table/{physical}",
            "AWS::SQS::Queue": f"arn:aws:sqs:{REGION}:{ACCOUNT}:{physical}",
        }
        if attribute == "Arn":
            return arns.get(kind, f"arn:aws:local:{REGION}:{ACCOUNT}:{physical}")
        return physical if attribute.endswith("Name") else f"{physical}.{attribute.lower()}.local"


def _queue_source(name: str, properties: Mapping[str, Any]) -> QueueSource:
    if properties.get("FunctionResponseTypes") != ["ReportBatchItemFailures"]:
        raise TemplateNotUnderstood(f"{name}: the local run only knows queues whose failures are reported one by one")
    arn = str(properties["Queue"])
    url = f"https://sqs.{REGION}.amazonaws.com/{ACCOUNT}/{arn.rpartition(':')[2]}"
    width = int(properties.get("ScalingConfig", {}).get("MaximumConcurrency", 1))
    return QueueSource(url, arn, int(properties.get("BatchSize", 10)), width)


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
