"""A spot market: instance types in zones, prices that wander around a mean, offers that expire and come back.

It fits the `spot` view: price and interruptions are minimised, vcpus maximised, one skyline per region.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Final

import orjson

from ingest.workloads.plan import Plan, Row

FAMILIES: Final = {
    "m7": (0.0121, 4), "m7g": (0.0102, 3), "m6": (0.0118, 6), "c7": (0.0107, 5), "c7g": (0.0091, 4), "c6": (0.0104, 8),
    "r7": (0.0158, 4), "r6": (0.0152, 7), "t4g": (0.0084, 12),
}  # fmt: skip
"""Family -> (list price per vCPU and hour, interruptions per hundred hours)."""

SIZES: Final = {"large": 2, "xlarge": 4, "2xlarge": 8, "4xlarge": 16, "8xlarge": 32}
REGIONS: Final = {"eu-west": "abc", "us-east": "abcd", "ap-south": "ab"}
_PULL: Final = 0.05
_OFFER_MS: Final = (5_000, 60_000)


@dataclass(slots=True)
class _Offer:
    key: bytes
    instance: str
    region: str
    zone: str
    vcpus: int
    usual: float
    price: float
    interruptions: float


def market(plan: Plan) -> Iterator[Row]:
    """Quotes of offers drawn at random; the catalogue is the same for every plan with the same seed."""
    rng = random.Random(plan.seed)
    offers = _catalogue(rng)
    for number in count():
        offer = offers[rng.randrange(len(offers))]
        at = plan.at(number)
        yield offer.key, _next(rng, offer, at), at


def _catalogue(rng: random.Random) -> list[_Offer]:
    offers = []
    for region, zones in REGIONS.items():
        for zone in zones:
            for family, (per_cpu, interruptions) in FAMILIES.items():
                for name, vcpus in SIZES.items():
                    instance = f"{family}.{name}"
                    usual = per_cpu * vcpus * rng.uniform(0.7, 1.3)
                    key = f"{instance}@{region}-{zone}".encode()
                    rate = interruptions * rng.uniform(0.5, 2.0)
                    offers.append(_Offer(key, instance, region, f"{region}-{zone}", vcpus, usual, usual, rate))
    return offers


def _next(rng: random.Random, offer: _Offer, at: int) -> bytes | None:
    """The offer's next quote; one in fifty is withdrawn."""
    if rng.random() < 0.02:
        return None
    offer.price += _PULL * (offer.usual - offer.price) + rng.gauss(0, 0.06) * offer.usual
    offer.price = min(max(offer.price, 0.3 * offer.usual), 3 * offer.usual)
    offer.interruptions = min(max(offer.interruptions * rng.lognormvariate(0, 0.05), 0.1), 40.0)
    return orjson.dumps(
        {
            "price": round(offer.price, 4),
            "interruptions": round(offer.interruptions, 1),
            "vcpus": offer.vcpus,
            "region": offer.region,
            "instance": offer.instance,
            "zone": offer.zone,
            "valid_until": at + rng.randint(*_OFFER_MS),
        }
    )
