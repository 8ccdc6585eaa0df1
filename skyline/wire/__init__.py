"""Bytes on the topics: the only code that knows JSON field names. docs/wire-format.md is the reference."""
