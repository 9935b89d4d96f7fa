"""Hybrid search: one port, an index of OpenSearch and an embedded one behind it, the text analysis and the fusion."""
