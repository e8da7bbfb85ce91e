"""Weight files: declared as data, found in several places, verified by checksum.

>>> from convergebench.weights import find_weight
>>> find_weight("lpips-alex").licence
'BSD-2-Clause'
"""

from __future__ import annotations

from convergebench.weights.catalogue import Weight, find_weight, weight_names
from convergebench.weights.store import identity, locate

__all__ = ["Weight", "find_weight", "identity", "locate", "weight_names"]
