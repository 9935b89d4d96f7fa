"""The stack as CloudFormation sees it: translated, conditions decided, functions resolved, nested stacks opened."""

import json
import os
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from infra.local.template import Resolver, load_template

ROOT = Path(__file__).parents[2]
ACCOUNT = {
    "AWS::AccountId": "111122223333",
    "AWS::Partition": "aws",
    "AWS::Region": "eu-central-1",
    "AWS::StackName": "lodestore-dev",
    "AWS::URLSuffix": "amazonaws.com",
}
BACKENDS: dict[str, dict[str, str]] = {
    "none": {},
    "domain": {"SearchBackend": "domain"},
    "existing": {
        "SearchBackend": "existing",
        "SearchEndpoint": "https://search.example.org",
        "SearchDomain": "search",
        "Arch": "x86_64",
        "EmbeddingModel": "cohere.embed-multilingual-v3",
    },
    "prod": {
        "Stage": "prod",
        "SearchBackend": "domain",
        "AlarmEmail": "on-call@example.org",
        "EmbeddingModel": "amazon.titan-embed-text-v2:0",
        "ExtractionModel": "anthropic.claude-haiku-4-5-20251001-v1:0",
        "ExtractionProfile": "eu.anthropic.claude-haiku-4-5-20251001-v1:0",
        "DocumentParsing": "off",
        "VisionModel": "amazon.nova-lite-v1:0",
        "VisionProfile": "eu.amazon.nova-lite-v1:0",
        "RolesBoundary": "arn:aws:iam::111122223333:policy/boundary",
    },
}


@dataclass(frozen=True, repr=False)
class Stack:
    """One template with one set of parameters.

    A reference to a resource reads `<Name>`, an attribute `<Name.Attribute>`: what is asserted is the wiring.
    """

    template: dict[str, Any]
    parameters: dict[str, Any]

    @property
    def resources(self) -> dict[str, dict[str, Any]]:
        return {
            name: self.resolver.resolve({k: v for k, v in given.items() if k != "Condition"})
            for name, given in self.template["Resources"].items()
            if "Condition" not in given or self.resolver.holds(given["Condition"])
        }

    @property
    def outputs(self) -> dict[str, Any]:
        return {
            name: self.resolver.resolve(given["Value"])
            for name, given in self.template["Outputs"].items()
            if "Condition" not in given or self.resolver.holds(given["Condition"])
        }

    @property
    def resolver(self) -> Resolver:
        values = ACCOUNT | {n: p.get("Default") for n, p in self.template["Parameters"].items()} | self.parameters
        return Resolver(self.template, values, lambda name: f"<{name}>", attribute=lambda n, a: f"<{n}.{a}>")

    def of_type(self, kind: str) -> dict[str, dict[str, Any]]:
        """Return the properties of all resources of a type, by name."""
        return {n: r.get("Properties", {}) for n, r in self.resources.items() if r["Type"] == kind}

    def nested(self, name: str) -> "Stack":
        """Open a nested stack with the parameters that this one gives it."""
        properties = self.resources[name]["Properties"]
        return Stack(load_template(ROOT / properties["TemplateURL"]), properties.get("Parameters", {}))

    def everything(self) -> dict[str, dict[str, Any]]:
        """Return all resources, those of nested stacks as `Stack/Name`."""
        found = self.resources
        inner = {
            f"{s}/{n}": r
            for s in self.of_type("AWS::CloudFormation::Stack")
            for n, r in self.nested(s).resources.items()
        }
        return found | inner


@cache
def translated() -> dict[str, Stack]:
    """Return the stack for each entry of BACKENDS."""
    command = [
        str(ROOT / ".tools/sam/bin/python"),
        str(Path(__file__).with_name("translate.py")),
        json.dumps(list(BACKENDS.values())),
    ]
    ran = subprocess.run(
        command,
        cwd=ROOT,
        capture_output=True,
        env={**os.environ, "AWS_DEFAULT_REGION": ACCOUNT["AWS::Region"]},
        check=True,
    )
    return {name: Stack(t, BACKENDS[name]) for name, t in zip(BACKENDS, json.loads(ran.stdout), strict=True)}
