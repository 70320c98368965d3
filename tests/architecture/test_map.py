"""CONTRIBUTING's map names every room and every file of the floor, and the contracts' layers."""

import configparser
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def test_the_map_names_what_is_there():
    source = ROOT / "src" / "xlingual"
    folders = {f"{path.name}/" for path in source.iterdir() if (path / "__init__.py").exists()}
    files = {path.name for path in source.glob("*.py")} - {"__main__.py"}
    block = CONTRIBUTING.split("src/xlingual/\n")[1].split("tests/ ")[0]
    assert set(re.findall(r"^  (\S+)", block, re.MULTILINE)) - {""} == folders | files


def test_the_layers_are_those_of_the_contracts():
    contracts = configparser.ConfigParser()
    contracts.read(ROOT / ".importlinter")
    layers = contracts["importlinter:contract:layers"]["layers"].split("\n")
    rooms = [re.findall(r"xlingual\.(\w+)", line) for line in layers if line]
    drawn = CONTRIBUTING.split("nowhere is a circle:\n\n```\n")[1].split("\n```")[0].splitlines()
    assert [set(line.split()) for line in drawn[:-1]] == [set(line) for line in rooms[:-1]]
    floor = {path.stem for path in (ROOT / "src" / "xlingual").glob("[a-z]*.py")} | {"requests", "results"}
    assert set(rooms[-1]) == floor


def test_the_tour_of_a_number_names_files_that_are_there():
    tour = CONTRIBUTING.split("**One BkR number**")[1].split("```")[1]
    files = re.findall(r"[a-z_/]+\.py", tour)
    assert 5 <= len(files) <= 9
    for file in files:
        assert (ROOT / "src" / "xlingual" / file).exists(), file
