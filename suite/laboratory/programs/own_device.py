"""The comparison of an interpreter's programs for its own device with programs compiled without the device.

Only the texts are kept, since programs compiled here also depend on this machine's device and driver.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.text import Text

from jax_stack_compat.base.errors import Exit, Misused
from jax_stack_compat.base.files import ROOT
from jax_stack_compat.environments import probe_call
from laboratory.programs import cases, compiling, model, sources
from laboratory.programs.changes import changed
from laboratory.programs.model import Program
from laboratory.programs.targets import TARGETS


def compare(python: Path, console: Console) -> Exit:
    """Compile with this interpreter for its own device, and print the differences. Raises Misused, BadFile."""
    here = probe_call.asked_of_jax(python, probe_call.command(python, compiling.HERE, root=ROOT))
    jax, device = here["jax"], here["device"]
    target = next((each for each in TARGETS.values() if device.startswith(each.kinds)), None)
    if target is None:
        devices = " and ".join(each.device for each in TARGETS.values())
        raise Misused(
            f"{python}: jax sees {device}, but programs are known only for {devices}: there is nothing to compare"
        )
    cell = f"jax-{jax}"
    release = model.load(target).release(cell)
    of = release.programs if release and release.recipe == sources.recipe() else []
    every = sources.programs()
    known = {each.workload: each for each in of if every.get(each.workload) == each.source}
    if not known:
        raise Misused(
            f"no program of {cell} for {target.device} was compiled with the present code: "
            f"`nox -s device-programs -- {cell} --target {target.id}` compiles them without the device"
        )
    console.print(Text.assemble((device, "bold"), f", {cell}: {len(known)} programs. {target.caveat}"), soft_wrap=True)
    name = f"{cell}+{target.id}-here"
    try:
        came = compiling.compile(python, name, target.id, list(known), lambda *_: None, by=compiling.HERE)
    except compiling.CompilerEnded as error:
        raise Misused(f"{python}: {error}") from error
    if came.reason:
        raise Misused(f"{python}: {came.reason}")
    texts, same = compiling.TEXTS / name, 0
    for each in came.programs:
        differs = "; ".join(_differences(known[each.workload], each, texts))
        same += not differs
        told = Text(f"  {each.workload}: {differs or 'the same'}", style="yellow" if differs else "")
        console.print(told, soft_wrap=True)
    counted = f"{same} of {len(came.programs)} programs have the same counts as without the device"
    last = f"{device}: {counted}; their texts are in {texts}"
    console.print(last, style="bold", soft_wrap=True)
    return Exit.AS_EXPECTED


def _differences(without: Program, here: Program, texts: Path) -> Iterator[str]:
    """Describe how a program differs from the one compiled without the device."""
    if without.reason or here.reason:
        if not (without.reason and here.reason):
            yield f"only {'here' if without.reason else 'without the device'}: {without.reason or here.reason}"
        return
    path = texts / f"{here.workload}.hlo.txt"
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    shown, _ = cases.seen(here.workload, text, here.counts, here.reason)
    if shown != without.seen:
        yield f"shows {shown or 'nothing known'}, and {without.seen or 'nothing known'} without the device"
    yield from (each.told for each in changed(without, here))
