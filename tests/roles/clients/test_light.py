"""Reading a role's table loads no client: study files are also read where nothing is sent."""

from __future__ import annotations

import subprocess
import sys

READ = """
import sys
from convergebench.roles.tables import RoleTable
from convergebench.roles import trust
RoleTable.model_validate({"kind": "served", "api": "gemini", "model": "m"})
print([name for name in ("httpx", "numpy", "PIL", "google.genai", "openai") if name in sys.modules])
"""


def test_a_table_is_read_without_loading_a_client() -> None:
    done = subprocess.run([sys.executable, "-c", READ], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
