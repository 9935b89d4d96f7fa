"""A CloudFormation template and the values of its intrinsic functions, as far as this project's templates use them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

REFERENCE = re.compile(r"\$\{(!?)([^}]+)\}")
NO_VALUE = object()


class TemplateNotUnderstood(Exception):
    """The template holds something that the local run neither does nor knowingly ignores."""


def load_template(path: Path) -> dict[str, Any]:
    """Read a template with its short tags (`!Ref` and the like) in their long form."""
    return parse_template(path.read_text("utf-8"))


def parse_template(text: str) -> dict[str, Any]:
    """Return a template's text as `load_template` does."""
    template: dict[str, Any] = yaml.load(text, _Loader)  # noqa: S506 - a SafeLoader with tags
    return template


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """A safe loader that knows CloudFormation's tags."""


def _construct(loader: Any, suffix: str, node: Any) -> dict[str, Any]:
    name = suffix if suffix in {"Ref", "Condition"} else f"Fn::{suffix}"
    if isinstance(node, yaml.ScalarNode):
        value = loader.construct_scalar(node)
    elif isinstance(node, yaml.SequenceNode):
        value = loader.construct_sequence(node, deep=True)
    else:
        value = loader.construct_mapping(node, deep=True)
    return {name: value}


_Loader.add_multi_constructor("!", _construct)


class Resolver:
    """Computes values of one template.

    `parameters` has parameters and pseudo parameters by name, `reference` and `attribute` answer for resources.
    """

    def __init__(
        self,
        template: Mapping[str, Any],
        parameters: Mapping[str, Any],
        reference: Callable[[str], Any],
        *,
        attribute: Callable[[str, str], Any],
    ) -> None:
        self._template = template
        self._parameters = parameters
        self._reference = reference
        self._attribute = attribute
        self._functions: dict[str, Callable[[Any], Any]] = {
            "Ref": self._ref,
            "Fn::GetAtt": self._get_att,
            "Fn::Sub": self._sub,
            "Fn::If": lambda v: self.resolve(v[1] if self.holds(v[0]) else v[2]),
            "Fn::Join": lambda v: v[0].join(map(str, self.resolve(v[1]))),
            "Fn::Select": lambda v: self.resolve(v[1])[int(self.resolve(v[0]))],
            "Fn::Split": lambda v: str(self.resolve(v[1])).split(v[0]),
            "Fn::FindInMap": self._find_in_map,
        }

    def resolve(self, value: Any) -> Any:
        """Return `value` with every intrinsic function replaced; members that are AWS::NoValue are left out."""
        if isinstance(value, list):
            return [found for found in map(self.resolve, value) if found is not NO_VALUE]
        if not isinstance(value, dict):
            return value
        name = next(iter(value)) if len(value) == 1 else ""
        if name in self._functions:
            return self._functions[name](value[name])
        if name.startswith("Fn::"):
            raise TemplateNotUnderstood(f"{name} is not known to the local run")
        found = {key: self.resolve(inner) for key, inner in value.items()}
        return {key: inner for key, inner in found.items() if inner is not NO_VALUE}

    def holds(self, condition: Any) -> bool:
        """Tell whether a condition, by name or written out, holds."""
        if isinstance(condition, str):
            return self.holds(self._template["Conditions"][condition])
        ((name, value),) = condition.items()
        if name == "Fn::Equals":
            return bool(self.resolve(value[0]) == self.resolve(value[1]))
        if name == "Fn::Not":
            return not self.holds(value[0])
        if name == "Fn::And":
            return all(map(self.holds, value))
        if name == "Fn::Or":
            return any(map(self.holds, value))
        if name == "Condition":
            return self.holds(value)
        raise TemplateNotUnderstood(f"{name} is not a condition that the local run knows")

    def _ref(self, name: str) -> Any:
        if name == "AWS::NoValue":
            return NO_VALUE
        return self._parameters[name] if name in self._parameters else self._reference(name)

    def _get_att(self, value: Any) -> Any:
        name, attribute = value.split(".", 1) if isinstance(value, str) else (value[0], self.resolve(value[1]))
        return self._attribute(name, attribute)

    def _sub(self, value: Any) -> str:
        text, own = (value, {}) if isinstance(value, str) else (value[0], self.resolve(value[1]))

        def replaced(match: re.Match[str]) -> str:
            literal, name = match.groups()
            if literal:
                return f"${{{name}}}"
            if name in own:
                return str(own[name])
            return str(self._get_att(name) if "." in name else self._ref(name))

        return REFERENCE.sub(replaced, text)

    def _find_in_map(self, value: list[Any]) -> Any:
        name, first, second = map(self.resolve, value[:3])
        return self._template["Mappings"][name][first][second]
