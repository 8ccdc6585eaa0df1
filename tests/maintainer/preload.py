"""What the server that maintainers are forked from has done already: imports, and kernels loaded or compiled."""

from maintainer.__main__ import warm_up
from skyline.view import View
from tests.maintainer import crashing

assert crashing.POINTS
warm_up(View.of("keyed", {"dimensions": {"price": "min", "rating": "max"}, "group_by": ["city"], "carry": ["name"]}))
warm_up(View.of("plain", {"dimensions": {"x": "min", "y": "min", "z": "min"}}))
warm_up(View.of("window", {"dimensions": {"price": "min", "rating": "max"}, "carry": ["name"], "window": {"size": 40}}))
