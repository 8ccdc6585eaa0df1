#!/bin/sh
# Runs `python -m "$@"`. numba wants a cache that it can write to, and the image is read-only: the kernels that were
# compiled with the image are copied to where they may be added to.
set -eu
if [ -n "${SKYLINE_WARM:-}" ] && [ ! -d "$NUMBA_CACHE_DIR" ]; then
    cp -R "$SKYLINE_WARM" "$NUMBA_CACHE_DIR"
fi
exec python -m "$@"
