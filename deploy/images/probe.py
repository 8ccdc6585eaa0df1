"""`python -m deploy.images.probe URL`: exit code 0 when the URL answers with 200. The health check of the images."""

from __future__ import annotations

import sys
from http.client import HTTPException
from urllib.request import urlopen


def answers(url: str, seconds: float = 2.0) -> bool:
    """Whether a GET is answered with 200 in time."""
    try:
        with urlopen(url, timeout=seconds) as answer:
            return bool(answer.status == 200)
    except (OSError, HTTPException):
        return False


if __name__ == "__main__":
    sys.exit(0 if answers(sys.argv[1]) else 1)
