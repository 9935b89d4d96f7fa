"""The index of OpenSearch: one domain for all users, each memory's passages on its owner's shard."""
