"""Thin typed clients over boto3 that translate errors and count calls."""
