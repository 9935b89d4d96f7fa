"""Things of which one is commonly used at a time: naming another as what is used now means a change."""

from __future__ import annotations

from itertools import pairwise

from shared.extraction.claims.wording import stem
from shared.extraction.script import words

_KINDS = (
    "mysql postgres postgresql mongodb sqlite mariadb oracle dynamodb cassandra cockroachdb",
    "vim neovim emacs vscode pycharm intellij sublime cursor zed",
    "react vue angular svelte solid",
    "express fastify koa nestjs flask django fastapi rails",
    "jest vitest mocha pytest unittest",
    "eslint tslint biome prettier ruff flake8 pylint black",
    "npm yarn pnpm bun",
    "aws azure gcp",
    "github gitlab bitbucket",
    "slack teams discord",
    "windows macos linux ubuntu debian fedora",
    "iphone android",
    "chrome firefox safari edge brave",
    "webpack vite rollup parcel",
    "rabbitmq kafka sqs nats",
    "jenkins circleci travis",
    "dark light",
    "coffee tea",
    "spotify tidal",
    "notion obsidian evernote",
    "redis memcached",
    "rest graphql grpc",
    "tabs spaces",
    "mac pc",
    "微信支付 支付宝",
    "安卓 苹果",
    "咖啡 茶",
)
_KIND = {stem(word): number for number, kind in enumerate(_KINDS) for word in words(kind)}


def rivals(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Tell whether two values (stems) name different things of one kind."""
    here, there = _kinds(one), _kinds(other)
    return any(here[kind] != there[kind] for kind in here.keys() & there.keys())


def _kinds(value: tuple[str, ...]) -> dict[int, str]:
    named = (*value, *map("".join, pairwise(value)))  # VS Code
    return {_KIND[word]: word for word in named if word in _KIND}
