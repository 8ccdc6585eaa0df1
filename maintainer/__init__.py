"""V.updates in, V.changes, V.skyline and V.rejected out: every change once, in order, with its reason."""
