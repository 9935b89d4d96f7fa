"""What a node is made of: its folders, the artifacts in them, and what their packages leave to be written."""

from __future__ import annotations

from dataclasses import dataclass

VERSION = "2.19.1"
"""A version that Amazon OpenSearch Service has too; infra/search.yaml names the same minor one."""

LIB = "lib"


@dataclass(frozen=True)
class Part:
    """A folder of the node's home with its artifacts (`group:name:version[:type]`) and all that they need.

    A module names its `plugin` class, the module it `extends`, and the `permissions` that Java's policy grants it.
    """

    folder: str
    artifacts: tuple[str, ...]
    plugin: str = ""
    extends: str = ""
    permissions: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The last part of the folder."""
        return self.folder.rpartition("/")[2]


PARTS = (
    Part(
        LIB,
        (
            f"org.opensearch:opensearch:{VERSION}",
            f"org.opensearch:opensearch-plugin-classloader:{VERSION}",
            "org.apache.logging.log4j:log4j-core:2.21.0",
        ),
    ),
    Part(
        "modules/transport-netty4",
        (f"org.opensearch.plugin:transport-netty4-client:{VERSION}",),
        plugin="org.opensearch.transport.Netty4Plugin",
        permissions=(
            'java.net.SocketPermission "*", "accept,connect,listen,resolve"',
            'java.util.PropertyPermission "*", "read,write"',
            'java.lang.RuntimePermission "*"',
            'java.lang.reflect.ReflectPermission "suppressAccessChecks"',
            'java.io.FilePermission "<<ALL FILES>>", "read"',
        ),
    ),
    Part(
        "modules/lang-painless",
        (
            f"org.opensearch.plugin:lang-painless:{VERSION}",
            f"org.opensearch.plugin:opensearch-scripting-painless-spi:{VERSION}",
            "org.antlr:antlr4-runtime:4.13.1",
        ),
        plugin="org.opensearch.painless.PainlessPlugin",
        permissions=(
            'java.lang.RuntimePermission "createClassLoader"',
            'java.lang.RuntimePermission "getClassLoader"',
            'java.lang.RuntimePermission "accessDeclaredMembers"',
            'org.opensearch.script.ClassPermission "<<STANDARD>>"',
        ),
    ),
    Part(
        "modules/analysis-common",
        (f"org.opensearch.plugin:analysis-common:{VERSION}",),
        plugin="org.opensearch.analysis.common.CommonAnalysisPlugin",
        extends="lang-painless",
    ),
    Part(
        "modules/reindex",
        (f"org.opensearch.plugin:reindex-client:{VERSION}",),
        plugin="org.opensearch.index.reindex.ReindexPlugin",
        permissions=(
            'java.net.SocketPermission "*", "connect"',
            'java.lang.RuntimePermission "*"',
        ),
    ),
    Part("plugins/opensearch-knn", (f"org.opensearch.plugin:opensearch-knn:{VERSION}.0:zip",)),
)


def project(part: Part) -> str:
    """Return the Maven project whose dependencies are a part's artifacts."""
    wanted = "".join(f"<dependency>{_coordinates(artifact)}</dependency>" for artifact in part.artifacts)
    return _project(part.name, f"<dependencies>{wanted}</dependencies>")


def whole() -> str:
    """Return the Maven project of all parts, so that one run of Maven fetches them."""
    modules = "".join(f"<module>{part.name}</module>" for part in PARTS)
    return _project("node", f"<packaging>pom</packaging><modules>{modules}</modules>")


def descriptor(part: Part) -> str:
    """Return a module's `plugin-descriptor.properties`."""
    lines = {
        "name": part.name,
        "description": part.name,
        "version": VERSION,
        "opensearch.version": VERSION,
        "java.version": "11",
        "classname": part.plugin,
        "extended.plugins": part.extends,
        "has.native.controller": "false",
    }
    return "".join(f"{name}={value}\n" for name, value in lines.items() if value)


def policy(part: Part) -> str:
    """Return a module's `plugin-security.policy`."""
    return "grant {\n" + "".join(f"  permission {permission};\n" for permission in part.permissions) + "};\n"


def _coordinates(artifact: str) -> str:
    tags = ("groupId", "artifactId", "version", "type")
    return "".join(f"<{tag}>{value}</{tag}>" for tag, value in zip(tags, artifact.split(":"), strict=False))


def _project(name: str, content: str) -> str:
    head = f"<groupId>lodestore.node</groupId><artifactId>{name}</artifactId><version>{VERSION}</version>"
    return f"<project><modelVersion>4.0.0</modelVersion>{head}{content}</project>\n"
