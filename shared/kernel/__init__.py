"""The words every room speaks: errors, ids, clock, scope, strict JSON, cursors, preconditions."""
