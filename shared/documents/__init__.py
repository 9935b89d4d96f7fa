"""Documents: from a file's bytes to chunks of its text, whatever the file is."""
