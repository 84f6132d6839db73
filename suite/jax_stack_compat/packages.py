"""The one table of packages: the stack, what comes with it, and guests; and two that jax does not declare.

Every other list of them is derived from it; only the probe, which imports nothing of the driver, has a copy.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Package:
    """A package that a cell can hold.

    `oldest` is the first release that a cell can hold; for packages of the stack, the newest release on the line's
    first day. With `asked`, every cell requests the package by name; the others are dependencies, unless a cell holds
    them. `layer` is its height in the stack: it builds only on packages of lower layers, and comes with what it
    `brings`, which nothing below needs. `imports` are the packages on which a case of it depends, the highest first.
    With `walked`, the names of each release are listed. `module` is the import name, if it differs; `alias` is what
    people write for it, and `title` how its authors spell it. `repository` and `documentation` are what threads and
    pages name by the package's short name.
    """

    oldest: str
    asked: bool = False
    layer: int = 0
    imports: tuple[str, ...] = ()
    brings: tuple[str, ...] = ()
    walked: bool = False
    module: str = ""
    alias: str = ""
    title: str = ""
    repository: str = ""
    documentation: str = ""


# JAX and the packages that build on JAX, in the order in which a cell's id names them.
STACK: Mapping[str, Package] = {
    "jax": Package(
        "0.4.18",
        asked=True,
        walked=True,
        repository="jax-ml/jax",
        documentation="https://docs.jax.dev/en/latest/",
    ),
    "jaxlib": Package("0.4.18", walked=True),
    "equinox": Package(
        "0.11.0",
        asked=True,
        layer=1,
        imports=("jax",),
        brings=("typing-extensions", "wadler-lindig"),
        walked=True,
        alias="eqx",
        repository="patrick-kidger/equinox",
        documentation="https://docs.kidger.site/equinox/",
    ),
    "diffrax": Package(
        "0.4.1",
        asked=True,
        layer=4,
        imports=("optimistix", "lineax", "equinox", "jax"),
        walked=True,
        alias="dfx",
        repository="patrick-kidger/diffrax",
        documentation="https://docs.kidger.site/diffrax/",
    ),
    "lineax": Package(
        "0.0.4",
        layer=2,
        imports=("equinox", "jax"),
        walked=True,
        repository="patrick-kidger/lineax",
        documentation="https://docs.kidger.site/lineax/",
    ),
    "optimistix": Package(
        "0.0.6",
        layer=3,
        imports=("lineax", "equinox", "jax"),
        walked=True,
        repository="patrick-kidger/optimistix",
        documentation="https://docs.kidger.site/optimistix/",
    ),
}
# The stack: these, and what an installer brings along.
PACKAGES: Mapping[str, Package] = {
    **STACK,
    "jaxtyping": Package(
        "0.2.22",
        layer=1,
        brings=("typeguard", "wadler-lindig"),
        walked=True,
        repository="patrick-kidger/jaxtyping",
    ),
    "numpy": Package("1.26.0"),
    "scipy": Package("1.11.3"),
}
# Packages that build on the stack. A cell that holds a guest runs only the guest's cases.
GUESTS: Mapping[str, Package] = {
    "numpyro": Package("0.15.3", title="NumPyro"),
    "tensorflow-probability": Package("0.24.0", module="tensorflow_probability", title="TensorFlow Probability"),
    "dm-haiku": Package("0.0.12", module="haiku", title="Haiku"),
    "flax": Package("0.9.0", title="Flax"),
    "optax": Package("0.1.5", title="Optax"),
    "blackjax": Package("1.0.0", title="BlackJAX"),
    "e3nn-jax": Package("0.20.3", module="e3nn_jax"),
}
HELD: Mapping[str, Package] = {**PACKAGES, **GUESTS}
_GUESTS = frozenset(GUESTS)
# The axes: the things that a cell can hold and that an arm can move.
AXES = (*HELD, "python")
# The packages that every cell requests by name: they identify a stack for people.
ASKED = tuple(name for name, package in PACKAGES.items() if package.asked)
# Every lock pins these packages. Lineax and Optimistix are left out: Diffrax 0.4 came without them.
EVERYWHERE = tuple(name for name in PACKAGES if name in ASKED or name == "jaxlib")
WALKED = tuple(name for name, package in PACKAGES.items() if package.walked)
# A library on JAX runs beside releases of the first, and of the others if it requires them.
BESIDE_LIBRARIES = ("jax", "equinox", "flax", "optax")
# The imports within the stack: a case that needs a package also needs the packages that it imports.
IMPORTS: Mapping[str, tuple[str, ...]] = {name: package.imports for name, package in STACK.items() if package.imports}
# jax and the packages that import it.
ON_JAX = ("jax", *IMPORTS)
MODULES: Mapping[str, str] = {name: package.module or name for name, package in HELD.items()}
# Whose repositories are meant by a short name.
REPOSITORIES: Mapping[str, str] = {
    "xla": "openxla/xla",
    **{name: package.repository for name, package in HELD.items() if package.repository},
}
# `jax.export` and Pallas import these on many releases, and no metadata declares them. All cells have them, except the
# cells with `beside = false`.
BESIDE = frozenset({"absl-py", "flatbuffers"})
# Every jax requires opt-einsum, and nobody names it by hand: a list of pins with it is a complete stack.
LISTED = "opt-einsum"


def guests(names: Iterable[str]) -> frozenset[str]:
    """Return the packages that do not belong to the stack."""
    return _GUESTS.intersection(names)
