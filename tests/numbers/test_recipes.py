"""The recipes: every public numerical function is called, or listed with the reason."""

import ast

from jax_stack_compat.names import query
from jax_stack_compat.numbers.uncalled import uncalled
from laboratory.cell.numbers.recipes import OF_DEVICES, PATH, calls

MODULES = (
    *("jax.numpy", "jax.numpy.linalg", "jax.numpy.fft", "jax.nn", "jax.nn.initializers", "jax.lax", "jax.lax.linalg"),
    *("jax.random", "jax.ops", "jax.scipy"),
)


def test_every_function_is_called_or_listed() -> None:
    """A public function of the newest jax is called, is another name of a called one, or is listed with a reason."""
    names = query.names("jax")
    modules = [name for name in names.modules if name in MODULES or name.startswith("jax.scipy.")]
    public = {f"{module}.{name}" for module in modules for name in names.modules[module].names}
    functions = {name for name in public if query.kind(name, names.releases[-1]) == "function"}
    called = {call.function for call in calls()}
    listed = {name for reason in uncalled().reasons for name in uncalled().functions(reason)}

    assert functions - called - uncalled().aliases.keys() == listed


def test_another_name_is_of_a_called_function() -> None:
    """The function that is called in place of an alias is itself called."""
    assert {call.function for call in calls()}.issuperset(uncalled().aliases.values())


def test_a_call_is_an_expression_of_its_inputs() -> None:
    """Every name in a call is jax, an input or a builtin."""
    for call in (*calls(), *calls(OF_DEVICES)):
        tree = ast.parse(call.text, mode="eval")
        bound = {each.arg for each in ast.walk(tree) if isinstance(each, ast.arg)}
        named = {each.id for each in ast.walk(tree) if isinstance(each, ast.Name)}

        assert named <= {"jax", "float", "slice", *call.inputs, *bound}, call.text


def test_a_dtype_in_quotes_is_no_input() -> None:
    """In a call with a dtype's name, only unquoted names are inputs."""
    found = {call.text: call.inputs for call in calls()}

    assert () == found["jax.numpy.arange(3, dtype='float16')"]
    assert ("float32",) == found["jax.numpy.astype(float32, 'int32')"]


def test_what_is_left_out_is_not_made() -> None:
    """A call after `[left out]` is not made. Every other form is made beside its plain call."""
    texts = PATH.read_text(encoding="utf-8").partition("[left out]\n")[2].splitlines()
    keys = {call.key for call in calls()}

    assert texts
    assert keys.isdisjoint(texts)
    assert {f"eager {call.text}" for call in calls()} <= keys


def test_devices_make_calls_of_their_own() -> None:
    """No call is in both files, so that a key means one call."""
    assert set() == {call.key for call in calls()} & {call.key for call in calls(OF_DEVICES)}
