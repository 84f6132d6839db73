"""It needs a package that does not import: the tests' own interpreter has no jax."""

from tests.cell.corpus import case, issue, right, well

ISSUE = issue(
    __name__,
    "It does not import",
    case("undocumented", right, needs=("jax",), workaround=well),
    case(
        "documented",
        right,
        needs=("jax",),
        expected="import-error",
        documented={"import-error": "affected"},
        workaround=well,
    ),
)
