"""Tests of the box's search against `find` and `explain`: one index, two languages, the same results in one order."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from jax_stack_compat.check.explain import arguments, missing, ordinary
from jax_stack_compat.check.explain.raised import raised
from jax_stack_compat.check.find.index import Index, load
from jax_stack_compat.check.find.ranked import ranked
from laboratory.report.site.build import ASSETS
from tests.check.test_explain_messages import MESSAGES
from tests.report.site_browser import tab

# Runs both scripts of the page, with the names that it would load, and prints the ids of each text's results.
DRIVER = """
const fs = require("fs"), vm = require("vm"), [data, assets] = process.argv.slice(1);
const run = path => vm.runInThisContext(fs.readFileSync(path, "utf-8"), path);
run(`${data}/search.js`);
globalThis.module = undefined;
run(`${assets}/match.js`);
for (const name of fs.readdirSync(data)) if (name.startsWith("names-")) run(`${data}/${name}`);
const found = vm.runInThisContext("matcher(SEARCH)");
const ids = text => [...found.sentences(text, NAMES), ...found.ranked(text)].map(({kind, id}) => `${kind}:${id}`);
console.log(JSON.stringify(JSON.parse(fs.readFileSync(0, "utf-8")).map(ids)));
"""
EVALUATED = """texts => {
  const found = matcher(SEARCH);
  const results = text => [...found.sentences(text, NAMES), ...found.ranked(text)];
  return texts.map(text => results(text).map(({kind, id}) => `${kind}:${id}`));
}"""
TRACEBACK = """Traceback (most recent call last):
  File "/v/lib/python3.12/site-packages/equinox/internal/_noinline.py", line 379, in <module>
    jax.core.pp_eqn_rules[noinline_p] = _noinline_pretty_print
AttributeError: jax.core.pp_eqn_rules was removed in JAX v0.4.34.
"""
FLAX = """  File "/v/lib/python3.12/site-packages/flax/nnx/variablelib.py", line 298, in <module>
    class NewVariable(hjx.HiPrimitive):
AttributeError: module 'jax.experimental.hijax' has no attribute 'HiPrimitive'
"""
AUTO = (
    "ValueError: The spec of NamedSharding passed to with_sharding_constraint can only refer to Auto axes of the mesh. "
    "Got spec=PartitionSpec('rows',) and mesh=AbstractMesh('rows': 2, axis_types=(Explicit,), device_kind=cpu, "
    "num_cores=None). You probably meant to use `reshard` API?"
)
TREE_MAP = (
    "AttributeError: jax.tree_map was removed in JAX v0.6.0: use jax.tree.map (jax v0.4.25 or newer) or "
    "jax.tree_util.tree_map (any JAX version)."
)
PSUM = "TypeError: _psum_invariant_abstract_eval() got an unexpected keyword argument 'axis_index_groups'"
MAKE_MESH = "TypeError: make_mesh() got an unexpected keyword argument 'axis_shapes'"
WORDS = (
    "hang",
    "deadlock",
    "leak",
    "recompile",
    "retrace",
    "SIGSEGV",
    "segfault",
    "crash",
    "slow",
    "regression",
    "jax#25190",
    "#25981",
    "27829",
    "https://github.com/jax-ml/jax/issues/31284",
    "equinox#1082",
    "diffrax#1082",
    "jnp.median",
    "jax.vmap",
    "eqx.filter_grad",
    "with_sharding_constraint",
    "jax.random.normal",
    "axis_types=",
    "constant_values=",
    "segfault jax 0.7.0 equinox",
    "slow since jax 0.7.1",
    "jax 0.7.1 is slow",
    "jax 0.4.25 numpy 2",
    "jax 0.7.1",
    "jax==0.4.33",
    "0.4.33",
    "jax-0.10.0+equinox-0.13.2",
    "diffrax 0.7.0 is wrong",
    "gradient values off in jax 0.5.0",
    "jax 0.4.33 scan",
    "jax 0.99 scan",
    "numpyro",
    "flax nnx",
    "equinox gradient",
    "jax.vmap, implicit solvers, eqx.filter_grad, jax.no_such_thing",
    "Which release first refused .lower() through functools.wraps, and is pmap the same?",
    "Does optax 0.2.4 work with jax 0.12.0.1?",
    "can jax 0.4.35 go to v0.6.0?",
    "unhashable type",
    "unhashable type: 'DynamicJaxprTracer'",
    "got an unexpected keyword argument",
    "object has no attribute",
    "CpuExecutable has no thunks",
    "FutureWarning: Attempting to hash a tracer",
    "AttributeError: 'function' object has no attribute 'lower'",
    "same seed other numbers",
    "make_mesh explicit",
    "jnp.arange of bfloat16 rounds",
    "jnp.clip(x, a_min=0)",
    "jax.make_mesh(",
    "constructor",
    "toString __proto__",
    "(((",
    "x",
    "a while loop that reads an array",
    "array API conjugate vecdot",
    TRACEBACK,
    FLAX,
    AUTO,
    TREE_MAP,
    PSUM,
    MAKE_MESH,
    "TypeError: clip() got an unexpected keyword argument 'a_min'",
    "ImportError: cannot import name 'AxisTypes' from 'jax.sharding' (/x/jax/sharding.py)",
    "AttributeError: jax.sharding.GSPMDSharding was deprecated in JAX v0.6.0 and removed in JAX v0.7.0. Did you mean: "
    "'NamedSharding'?",
    "jax.errors.UnexpectedTracerError: Encountered an unexpected tracer.",
    "jax.errors.ConcretizationTypeError: Abstract tracer value encountered where concrete value is expected",
)
QUERIES = (*WORDS, *(message for _, message in MESSAGES))


def ids(index: Index, text: str) -> list[str]:
    """Return the ids of what `find` says and lists for a text, in order."""
    found = ranked(index, text)
    told = [("name", name) for name, _ in missing.named(text, index.guests)]
    told += [("argument", name) for name, _ in arguments.named(text)]
    if not any(result.kind == "issue" for result in found):
        told += [("mistake", name) for name, _ in ordinary.told(raised(text))]
    return [f"{kind}:{id}" for kind, id in (*told, *((result.kind, result.id) for result in found))]


def by_node(node: str, data: Path) -> list[list[str]]:
    """Return what the page's script finds for each text, run by node."""
    command = [node, "-e", DRIVER, str(data), str(ASSETS)]
    ran = subprocess.run(command, input=json.dumps(QUERIES), capture_output=True, encoding="utf-8", check=True)
    found: list[list[str]] = json.loads(ran.stdout)
    return found


def by_browser(browser: Browser, data: Path) -> list[list[str]]:
    """Return what the page's script finds for each text, run by a browser."""
    page = tab(browser, [])
    for path in (data / "search.js", ASSETS / "match.js", *sorted(data.glob("names-*.js"))):
        page.add_script_tag(path=path)
    found: list[list[str]] = page.evaluate(EVALUATED, list(QUERIES))
    return found


@pytest.fixture(scope="module")
def in_the_box(report_folder: Path, request: pytest.FixtureRequest) -> list[list[str]]:
    """What the page's script finds for each text, by node or else by the tests' browser."""
    if node := shutil.which("node"):
        return by_node(node, report_folder / "data")
    return by_browser(request.getfixturevalue("browser"), report_folder / "data")


def test_the_box_finds_what_the_command_finds(in_the_box: list[list[str]]) -> None:
    """A hundred texts have the same results, in the same order, in the box and in a terminal."""
    index = load()
    assert len(QUERIES) > 100

    told = {text: ids(index, text) for text in QUERIES}
    boxed = dict(zip(QUERIES, in_the_box, strict=True))
    assert {} == {text: (boxed[text], told[text]) for text in QUERIES if boxed[text] != told[text]}
    assert sum(bool(found) for found in told.values()) > 60
