"""Scenes: built-in data, made from a seed.

Pictures of a few objects, and descriptions of them in several languages that were made independently of each
other: for demonstrations, tests and benchmarks of any size, without a download.
"""

from __future__ import annotations

from xlingual.demo_data.scenes.items import LANGUAGES, SceneItem, scene_rows, write_scenes

__all__ = ["LANGUAGES", "SceneItem", "scene_rows", "write_scenes"]
