"""How long things are kept: object classes, the due index, removal jobs and the sweeper's engine."""
