"""Names that old code takes from jax.numpy and jax.random are gone: in1d, round_, KeyArray, and from jax.lax and jax.nn

    jnp.in1d(a, b)                  # warns up to jax 0.4.23, then an AttributeError
    def draw(key: jax.random.KeyArray): ...    # the annotation alone stops the import, from jax 0.4.24

Most followed NumPy 2, SciPy or the array API, and warned for three months or more, as JAX's policy has it. Python shows
such a warning but in the file that is run, so that what is within a library is told by the release that has no more of
it. `jax.lax.pdot` went without one. `jax.lax.infeed` was announced in the changelog of 0.6.0, for 0.7.0, which repeats
it; its warning was written and never came, for the name was still imported beside it (jax#28767). The changelog has
`sph_harm` deprecated in 0.7.0. Each case is a name: there, warned of, or gone, with what to write instead on every
release of the line. names-gone-from-jax has those of jax itself.

Seen in these runs: `sph_harm` warns from 0.5.0 on.
"""

from __future__ import annotations

from collections.abc import Callable

from suite.cell import Case, Issue, Rule, Signature, Upstream, Workaround

Seeing = Callable[[], tuple[str, str]]


def in1d() -> tuple[str, str]:
    """Is there a jnp.in1d?"""
    import jax.numpy as jnp

    return "there", f"{jnp.in1d(jnp.array([1, 2]), jnp.array([2])).tolist()}"


def by_isin() -> None:
    """jnp.isin."""
    import jax.numpy as jnp

    assert jnp.isin(jnp.array([1, 2]), jnp.array([2])).tolist() == [False, True]


def row_stack() -> tuple[str, str]:
    """Is there a jnp.row_stack?"""
    import jax.numpy as jnp

    return "there", f"{jnp.row_stack([jnp.ones(2), jnp.ones(2)]).shape}"


def by_vstack() -> None:
    """jnp.vstack."""
    import jax.numpy as jnp

    assert jnp.vstack([jnp.ones(2), jnp.ones(2)]).shape == (2, 2)


def ninf() -> tuple[str, str]:
    """Is there a jnp.NINF?"""
    import jax.numpy as jnp

    return "there", f"{jnp.NINF}"


def by_inf() -> None:
    """-jnp.inf."""
    import jax.numpy as jnp

    assert float(jnp.exp(-jnp.inf)) == 0.0


def issubsctype() -> tuple[str, str]:
    """Is there a jnp.issubsctype?"""
    import jax.numpy as jnp

    return "there", f"{jnp.issubsctype(jnp.float32, jnp.floating)}"


def by_issubdtype() -> None:
    """jnp.issubdtype."""
    import jax.numpy as jnp

    assert jnp.issubdtype(jnp.float32, jnp.floating)


def round_with_underscore() -> tuple[str, str]:
    """Is there a jnp.round_?"""
    import jax.numpy as jnp

    return "there", f"{float(jnp.round_(1.7))}"


def by_round() -> None:
    """jnp.round."""
    import jax.numpy as jnp

    assert float(jnp.round(1.7)) == 2.0


def fix() -> tuple[str, str]:
    """Is there a jnp.fix?"""
    import jax.numpy as jnp

    return "there", f"{float(jnp.fix(-1.7))}"


def by_trunc() -> None:
    """jnp.trunc."""
    import jax.numpy as jnp

    assert float(jnp.trunc(-1.7)) == -1.0


def key_array() -> tuple[str, str]:
    """Is there a jax.random.KeyArray?"""
    import jax

    return "there", f"{jax.random.KeyArray}"


def by_array() -> None:
    """jax.Array, and jax.dtypes.prng_key to tell a key."""
    import jax
    import jax.numpy as jnp

    key = jax.random.key(0)
    assert isinstance(key, jax.Array)
    assert jnp.issubdtype(key.dtype, jax.dtypes.prng_key)


def shuffle() -> tuple[str, str]:
    """Is there a jax.random.shuffle?"""
    import jax
    import jax.numpy as jnp

    return "there", f"{jax.random.shuffle(jax.random.PRNGKey(0), jnp.arange(3)).shape}"


def by_permutation() -> None:
    """jax.random.permutation."""
    import jax
    import jax.numpy as jnp

    shuffled = jax.random.permutation(jax.random.PRNGKey(0), jnp.arange(3))
    assert sorted(shuffled.tolist()) == [0, 1, 2]


def default_prng_impl() -> tuple[str, str]:
    """Is there a jax.random.default_prng_impl?"""
    import jax

    return "there", f"{jax.random.default_prng_impl}"


def by_config() -> None:
    """jax.config.jax_default_prng_impl."""
    import jax

    assert jax.config.jax_default_prng_impl == "threefry2x32"


def normalize() -> tuple[str, str]:
    """Is there a jax.nn.normalize?"""
    import jax
    import jax.numpy as jnp

    return "there", f"{jax.nn.normalize(jnp.array([0.0, 2.0])).tolist()}"


def by_standardize() -> None:
    """jax.nn.standardize."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    np.testing.assert_allclose(jax.nn.standardize(jnp.array([0.0, 2.0])), [-1.0, 1.0], atol=1e-3)


def tie_in() -> tuple[str, str]:
    """Is there a jax.lax.tie_in?"""
    import jax

    return "there", f"{jax.lax.tie_in(1.0, 2.0)}"


def by_itself() -> None:
    """The second argument itself."""
    import jax

    assert jax.jit(lambda x, y: y)(1.0, 2.0) == 2.0


def zeros_like_array() -> tuple[str, str]:
    """Is there a jax.lax.zeros_like_array?"""
    import jax
    import jax.numpy as jnp

    return "there", f"{jax.lax.zeros_like_array(jnp.ones(2)).tolist()}"


def by_zeros_like() -> None:
    """jnp.zeros_like."""
    import jax.numpy as jnp

    assert jnp.zeros_like(jnp.ones(2)).tolist() == [0.0, 0.0]


def pdot() -> tuple[str, str]:
    """Is there a jax.lax.pdot?"""
    import jax

    return "there", jax.lax.pdot.__name__


def by_psum() -> None:
    """jax.lax.psum of a product."""
    import jax
    import jax.numpy as jnp

    dot = jax.vmap(lambda x, y: jax.lax.psum(x * y, "i"), axis_name="i")
    assert dot(jnp.arange(3.0), jnp.arange(3.0)).tolist() == [5.0] * 3


def infeed() -> tuple[str, str]:
    """Is there a jax.lax.infeed?"""
    import jax

    return "there", jax.lax.infeed.__name__


def by_callback() -> None:
    """jax.experimental.io_callback."""
    import jax
    import numpy as np
    from jax.experimental import io_callback

    assert jax.jit(lambda: io_callback(lambda: np.float32(2.0), jax.ShapeDtypeStruct((), "float32")))() == 2.0


def scipy_linalg_tril() -> tuple[str, str]:
    """Is there a jax.scipy.linalg.tril?"""
    import jax.numpy as jnp
    import jax.scipy.linalg

    return "there", f"{jax.scipy.linalg.tril(jnp.ones((2, 2))).tolist()}"


def by_tril() -> None:
    """jnp.tril."""
    import jax.numpy as jnp

    assert jnp.tril(jnp.ones((2, 2))).tolist() == [[1.0, 0.0], [1.0, 1.0]]


def sph_harm() -> tuple[str, str]:
    """Is there a jax.scipy.special.sph_harm?"""
    import jax.numpy as jnp
    import jax.scipy.special

    zero, angle = jnp.array([0]), jnp.array([0.0])
    return "there", f"{complex(jax.scipy.special.sph_harm(zero, zero, angle, angle)[0]):.4f}"


def by_sph_harm_y() -> None:
    """sph_harm_y, where it is: the order of its arguments is another."""
    import jax.numpy as jnp
    import jax.scipy.special
    import numpy as np

    m, n, azimuth, polar = jnp.array([0]), jnp.array([1]), jnp.array([0.3]), jnp.array([0.0])
    if hasattr(jax.scipy.special, "sph_harm_y"):
        got = jax.scipy.special.sph_harm_y(n, m, polar, azimuth, n_max=1)
    else:
        got = jax.scipy.special.sph_harm(m, n, azimuth, polar, n_max=1)
    np.testing.assert_allclose(got, [np.sqrt(3 / (4 * np.pi))], rtol=1e-4)


def kept_names() -> None:
    """What is documented for all releases of the line is there."""
    import jax
    import jax.numpy as jnp

    assert all(map(callable, (jnp.isin, jnp.vstack, jnp.round, jnp.trunc, jax.random.permutation, jax.nn.standardize)))


def _case(
    name: str,
    reproducer: Seeing,
    code: Callable[[], None],
    text: str,
    *,
    warns: str = "",
    gone: str,
) -> Case:
    there = (Rule("there", f"jax<{warns or gone}", f"run to the last release before {warns or gone}"),)
    warned = (Rule("warns", f"jax<{gone}", f"run to the last release before {gone}"),) if warns else ()
    last = Rule("gone", "", f"run on releases of the line from jax {gone} to 0.12.0.1")
    missing = ("AttributeError", "ImportError", "ModuleNotFoundError")
    return Case(
        reproducer,
        kept_names,
        {"there": "clear", "warns": "guarded", "gone": "affected"},
        (*(there if warns != "0.4.18" else ()), *warned, last),
        Workaround(text, code),
        signatures={
            "gone": tuple(Signature(each, name) for each in missing),
            "warns": tuple(Signature(each, name) for each in ("DeprecationWarning", "FutureWarning")),
        },
    )


ISSUE = Issue(
    kind="import-error",
    upstream=(
        Upstream("https://docs.jax.dev/en/latest/changelog.html", "changelog"),
        Upstream("https://docs.jax.dev/en/latest/api_compatibility.html", "docs"),
        Upstream("jax-ml/jax#28767", "report"),
    ),
    touches=(
        "jax.numpy.in1d",
        "jax.numpy.row_stack",
        "jax.numpy.NINF",
        "jax.numpy.issubsctype",
        "jax.numpy.round_",
        "jax.numpy.fix",
        "jax.random.KeyArray",
        "jax.random.shuffle",
        "jax.random.default_prng_impl",
        "jax.nn.normalize",
        "jax.lax.tie_in",
        "jax.lax.zeros_like_array",
        "jax.lax.pdot",
        "jax.lax.infeed",
        "jax.scipy.linalg.tril",
        "jax.scipy.special.sph_harm",
    ),
    cases=(
        _case("in1d", in1d, by_isin, "jnp.isin(a, b).", warns="0.4.18", gone="0.4.24"),
        _case("row_stack", row_stack, by_vstack, "jnp.vstack.", warns="0.4.18", gone="0.4.24"),
        _case("NINF", ninf, by_inf, "-jnp.inf.", warns="0.4.18", gone="0.4.24"),
        _case("issubsctype", issubsctype, by_issubdtype, "jnp.issubdtype.", warns="0.4.18", gone="0.4.24"),
        _case("round_", round_with_underscore, by_round, "jnp.round.", warns="0.4.32", gone="0.4.38"),
        _case("fix", fix, by_trunc, "jnp.trunc.", warns="0.9.0", gone="0.10.0"),
        _case("KeyArray", key_array, by_array, "jax.Array; a key is told by its dtype.", warns="0.4.18", gone="0.4.24"),
        _case("shuffle", shuffle, by_permutation, "jax.random.permutation.", warns="0.4.18", gone="0.4.31"),
        _case(
            "default_prng_impl",
            default_prng_impl,
            by_config,
            "jax.config.jax_default_prng_impl.",
            warns="0.4.20",
            gone="0.4.24",
        ),
        _case("normalize", normalize, by_standardize, "jax.nn.standardize.", warns="0.4.18", gone="0.4.29"),
        _case("tie_in", tie_in, by_itself, "What it gave: its second argument.", warns="0.4.24", gone="0.4.29"),
        _case("zeros_like_array", zeros_like_array, by_zeros_like, "jnp.zeros_like.", warns="0.7.1", gone="0.9.0"),
        _case("pdot", pdot, by_psum, "jax.lax.psum(jnp.dot(x, y), axis_name).", gone="0.4.31"),
        _case("infeed", infeed, by_callback, "jax.experimental.io_callback.", gone="0.7.0"),
        _case("tril", scipy_linalg_tril, by_tril, "jnp.tril.", warns="0.4.18", gone="0.4.24"),
        _case(
            "sph_harm",
            sph_harm,
            by_sph_harm_y,
            "jax.scipy.special.sph_harm_y(n, m, polar, azimuth), from 0.5.0.",
            warns="0.5.0",
            gone="0.10.0",
        ),
    ),
)
