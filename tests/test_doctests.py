"""Every example in a docstring of the library, and every `>>>` example of the README, does what it says."""

from __future__ import annotations

import doctest
import pkgutil
import re
from importlib import import_module
from pathlib import Path

import pytest

import skyline

MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(skyline.__path__, "skyline.")
    if not module.name.endswith("_kernels")
)
EXAMPLES = re.compile(r"^```(?:python|pycon)\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module(name: str) -> None:
    failed, _ = doctest.testmod(import_module(name), verbose=False)
    assert failed == 0


def test_there_are_examples() -> None:
    finder = doctest.DocTestFinder(exclude_empty=True)
    documented = [name for name in MODULES if any(test.examples for test in finder.find(import_module(name)))]
    assert "skyline.live.skyline" in documented
    assert "skyline.view" in documented


def test_the_examples_of_the_readme(repository: Path) -> None:
    """One session: later examples may use what earlier ones made."""
    text = (repository / "README.md").read_text(encoding="utf-8")
    examples = "\n".join(block for block in EXAMPLES.findall(text) if ">>>" in block)
    if not examples:
        pytest.skip("the README has no >>> examples")
    parsed = doctest.DocTestParser().get_doctest(examples, {}, "README.md", "README.md", 0)
    assert doctest.DocTestRunner(verbose=False).run(parsed).failed == 0
