"""What is looked for in a source: what issues touch, as names that the other modules can compare."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise

# What has two homes, as releases from 0.4.30 to 0.11.1 have it: the other name → the one it goes by here.
_HOMES: Mapping[str, str] = {
    **{
        f"jax.{home}{name}": f"jax.tree_util.tree_{name}"
        for home in ("tree.", "tree_")
        for name in ("all", "flatten", "leaves", "map", "reduce", "structure", "transpose", "unflatten")
    },
    **{f"jax.tree.{name}_with_path": f"jax.tree_util.tree_{name}_with_path" for name in ("flatten", "leaves", "map")},
    "jax.NamedSharding": "jax.sharding.NamedSharding",
    "jax.ad_checkpoint.checkpoint": "jax.checkpoint",
    "jax.custom_derivatives.custom_jvp": "jax.custom_jvp",
    "jax.custom_derivatives.custom_vjp": "jax.custom_vjp",
    "jax.experimental.PartitionSpec": "jax.P",
    "jax.experimental.export": "jax.export",
    "jax.experimental.pjit.PartitionSpec": "jax.P",
    "jax.experimental.shard_map.shard_map": "jax.shard_map",
    "jax.extend.core.Primitive": "jax.core.Primitive",
    "jax.nn.tanh": "jax.numpy.tanh",
    "jax.numpy.ndarray": "jax.Array",
    "jax.numpy.single": "jax.numpy.float32",
    "jax.remat": "jax.checkpoint",
    "jax.sharding.PartitionSpec": "jax.P",
}
_TOUCHED = re.compile(r"(?P<name>[^\W\d]\w*(?:\.[^\W\d]\w*)+)(?:\((?P<keyword>\w+)=\))?")


def canonical(name: str) -> str:
    """A qualified name by its one home."""
    end = len(name)
    while end > 0:
        if name[:end] in _HOMES:
            return _HOMES[name[:end]] + name[end:]
        end = name.rfind(".", 0, end)
    return name


def is_untold(name: str) -> bool:
    """Whether code can use it without naming it: an area, a private name, a member of a class."""
    match = _TOUCHED.fullmatch(name)
    if not match:
        return True
    parts = match["name"].split(".")
    member = any(one[0].isupper() and not two[0].isupper() for one, two in pairwise(parts))
    return member or any(part.startswith("_") for part in parts)


@dataclass(frozen=True)
class Wanted:
    """What is wanted, by the one home of each name: as it was asked for, alone and by keyword; and what to look at.

    `words` are the last parts of the names, at all their homes, and `parts` every part; `above` is what they lie in.
    """

    names: Mapping[str, Collection[str]]
    keywords: Mapping[tuple[str, str], Collection[str]]
    homes: frozenset[str]
    words: frozenset[str]
    parts: frozenset[str]
    above: frozenset[str]
    packages: frozenset[str]

    @classmethod
    def of(cls, touched: Iterable[str]) -> Wanted:
        """Take up what issues touch; what is no qualified name is left out."""
        names, keywords = defaultdict[str, set[str]](set), defaultdict[tuple[str, str], set[str]](set)
        for each in touched:
            if match := _TOUCHED.fullmatch(each):
                home = canonical(match["name"])
                if match["keyword"]:
                    keywords[home, match["keyword"]].add(each)
                else:
                    names[home].add(each)
        homes = frozenset([*names, *(home for home, _ in keywords)])
        spelled = [
            *homes,
            *(
                each.replace(home, other, 1)
                for other, home in _HOMES.items()
                for each in homes
                if f"{each}.".startswith(f"{home}.")
            ),
        ]
        return cls(
            dict(names),
            dict(keywords),
            homes,
            frozenset(each.rpartition(".")[2] for each in spelled),
            frozenset(part for each in spelled for part in each.split(".")),
            frozenset(each[: dot.start()] for each in spelled for dot in re.finditer(r"\.", each)),
            frozenset(each.partition(".")[0] for each in spelled),
        )

    def within(self, name: str) -> list[str]:
        """The homes of wanted names that a qualified name is or lies in: `jax.random` of `jax.random.split`."""
        parts = name.split(".")
        prefixes = (canonical(".".join(parts[:end])) for end in range(2, len(parts) + 1))
        return [each for each in prefixes if each in self.homes]
