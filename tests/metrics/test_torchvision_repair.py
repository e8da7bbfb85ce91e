"""A torchvision whose compiled half does not load is repaired; one that works, or fails otherwise, is left alone."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

SAYS = """
import sys, torch
from convergebench.metrics.torchvision_repair import _kept, ensure_torchvision
print(ensure_torchvision(), ensure_torchvision(), len(_kept), hasattr(torch.ops.torchvision, "nms"))
print(sys.modules["torchvision"].__name__)
"""
BROKEN = """
import torch
from torchvision import part
if not hasattr(torch.ops.torchvision, "nms") or not hasattr(torch.ops.torchvision, "qnms"):
    raise RuntimeError("operator torchvision::nms does not exist")
"""

pytestmark = pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")


def run(folder: Path, init: str | None) -> subprocess.CompletedProcess[str]:
    if init is not None:
        (folder / "torchvision").mkdir()
        (folder / "torchvision" / "__init__.py").write_text(init)
        (folder / "torchvision" / "part.py").write_text("")
    start = f"import sys; sys.path.insert(0, {str(folder)!r})\n"
    command = [sys.executable, "-c", start + SAYS]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


def test_one_that_works_is_not_touched(tmp_path: Path) -> None:
    assert run(tmp_path, "from torchvision import part").stdout.split() == [
        "False",
        "False",
        "0",
        "False",
        "torchvision",
    ]


def test_one_that_lacks_its_operators_is_repaired_once(tmp_path: Path) -> None:
    assert run(tmp_path, BROKEN).stdout.split() == ["True", "True", "1", "True", "torchvision"]


def test_another_failure_is_passed_on(tmp_path: Path) -> None:
    done = run(tmp_path, "raise RuntimeError('Couldn\\'t load custom C++ ops')")
    assert done.returncode == 1
    assert "RuntimeError: Couldn't load custom C++ ops" in done.stderr


@pytest.mark.skipif(find_spec("torchvision") is not None, reason="torchvision is installed")
def test_none_at_all_is_an_import_error(tmp_path: Path) -> None:
    assert "ModuleNotFoundError: No module named 'torchvision'" in run(tmp_path, None).stderr


@pytest.mark.skipif(find_spec("torchvision") is None, reason="torchvision is not installed")
def test_the_real_one_imports_and_runs_a_network(tmp_path: Path) -> None:
    code = (
        "from convergebench.metrics.torchvision_repair import ensure_torchvision; ensure_torchvision(); import torch; "
        "from torchvision.models import resnet18; print(resnet18()(torch.zeros(1, 3, 64, 64)).shape)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120)
    assert done.stdout.strip() == "torch.Size([1, 1000])", done.stderr
