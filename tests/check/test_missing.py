"""Messages about missing names: the releases that have them, and replacements."""

from __future__ import annotations

import pytest

from suite.check.explain import missing


@pytest.mark.parametrize(
    ("message", "told"),
    [
        (
            "AttributeError: module 'jax' has no attribute 'tree_map'",
            "jax.tree_map exists on jax 0.4.18 (or older) to 0.5.3. Upstream: jax.tree_map was removed in JAX "
            "v0.6.0: use jax.tree.map (jax v0.4.25 or newer) or jax.tree_util.tree_map (any JAX version).",
        ),
        (
            "ModuleNotFoundError: No module named 'jax.experimental.maps'",
            "jax.experimental.maps exists on jax 0.4.18 (or older) to 0.4.30.",
        ),
        (
            "ImportError: cannot import name 'AxisTypes' from 'jax.sharding' (/x/jax/sharding.py)",
            "jax.sharding.AxisTypes exists on jax 0.5.0 to 0.5.2. On 0.12.0.1, use jax.sharding.AxisType.",
        ),
    ],
)
def test_a_missing_name_is_told(message: str, told: str) -> None:
    """The releases that have a name come first, then its replacement on the newest."""
    assert [told] == list(missing.told(f"Traceback (most recent call last):\n{message}\n{message}"))


@pytest.mark.parametrize(
    "message",
    [
        "AttributeError: module 'numpy' has no attribute 'in1d'",
        "AttributeError: module 'jax' has no attribute 'no_release_has_this'",
        "ModuleNotFoundError: No module named 'tensorflow'",
        "TypeError: 'jaxlib._jax.Device' object is not callable",
    ],
)
def test_what_no_release_has_is_not_told(message: str) -> None:
    """Other packages, and names that no release had, yield nothing."""
    assert [] == list(missing.told(message))
