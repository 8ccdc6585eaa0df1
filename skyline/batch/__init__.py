"""Skyline and skyband of arrays: whole, in parts, by group; and of snapshots that change in bulk."""

from skyline.batch.grouped import grouped_skyline_of
from skyline.batch.merge import SkylineMerge, merge_skylines
from skyline.batch.skyband import skyband_of, skyline_of
from skyline.batch.snapshots import SnapshotSkyline
from skyline.batch.strong import filter_dominated, strong_points

__all__ = [
    "SkylineMerge",
    "SnapshotSkyline",
    "filter_dominated",
    "grouped_skyline_of",
    "merge_skylines",
    "skyband_of",
    "skyline_of",
    "strong_points",
]
