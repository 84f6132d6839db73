"""Counts of a compiled program, from the text that XLA writes of it. Pure: text in, numbers out.

Every count is of places in the program, not of what happens when it runs: what stands in a loop's body counts once.
"""

import re

_HEADER = re.compile(r"^(ENTRY )?%?([\w.~-]+) .*\{$")
_HEAVY = re.compile(r", (?:metadata|frontend_attributes|origin)=\{(?:[^{}\"]|\"(?:[^\"\\]|\\.)*\"|\{[^{}]*\})*\}")
_TABLES = ("FileNames", "FunctionNames", "FileLocations", "StackFrames")
# A kernel within a call, as text or in base64: it names the files that it was written in.
_KERNEL = re.compile(r"(\b(?:ir|module|kernel_hash) = |\"body\":)\"[^\"]*\"")
_LONG = re.compile(r"(?:\"?-?[\d.e+-]+\"?, ?){40,}\"?-?[\d.e+-]+\"?")
# What names computations that are run by themselves, and not within the instruction that names them.
_CALLED = re.compile(
    r"(?:body|condition|true_computation|false_computation|branch_computations)=(\{[^}]*\}|%?[\w.~-]+)"
)
_CALLEE = re.compile(r"(?:to_apply|calls|called_computations)=(\{[^}]*\}|%?[\w.~-]+)")
_CALLERS = ("call", "async-start")
_COLLECTIVES = (
    *("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "ragged-all-to-all"),
    *("collective-permute", "collective-broadcast"),
)
# What is known before a program runs, or only names a part of something else.
_NO_WORK = ("parameter", "constant", "tuple", "get-tuple-element", "bitcast")
# Kinds of thunks: those that launch one kernel, that hold others, and that launch none of XLA's own.
_THUNK = re.compile(r"(?:^ *|\t +)(?:\d+: *)?(k[A-Z]\w*)")
_LAUNCHING = {"kKernel", "kCustomKernel"}
# Of these, how the line after it begins where what it holds is listed: with the head of a part, or further in.
_HOLDING = {
    "kWhile": ("a loop", r".*\n *condition:"),
    "kConditional": ("a conditional", r".*\n *\w*branch\w*.*:$"),
    "kCommandBuffer": ("a command buffer", r"( *)\S.*\n\1 +\S"),
}
_OTHERS = {
    *("kCopy", "kSequential", "kAsyncStart", "kAsyncDone", "kDynamicSliceFusion", "kWaitForStreams"),
    *("kFft", "kCustomCall", "kTriangularSolve", "kCholesky", "kGemm", "kCublasLtMatmul", "kCubSort"),
    *("kMemset32BitValue", "kMemzero"),
}


class NotTold(Exception):
    """The text does not say; the message is a sentence of why."""


def lean(text):
    """The optimised HLO without what depends on where the source lies: metadata, tables of files, kernels' own code.

    What is left is the same each time, and can be held against another release's. Long lists of numbers are left out.
    """
    kept, skipping = [], False
    for line in text.splitlines():
        if line in _TABLES:
            skipping = True
        elif skipping and line and not line[0].isdigit():
            skipping = False
        if skipping:
            continue
        line = _KERNEL.sub(r'\1"…"', _HEAVY.sub("", line)) if "={" in line else line
        kept.append(_LONG.sub("…", line))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip() + "\n"


def of_hlo(text):
    """Counts of the optimised HLO; of what is run by itself, not of what is within a fusion, but for `instructions`."""
    computations, entry = _parsed(text)
    reached, todo = set(), [entry]
    while todo:
        name = todo.pop()
        if name in reached or name not in computations:
            continue
        reached.add(name)
        for opcode, line in computations[name]:
            named = _CALLED.findall(line) + (_CALLEE.findall(line) if opcode in _CALLERS else [])
            todo += [each.strip(" %") for group in named for each in group.strip("{}").split(",")]
    run = [opcode for name in reached for opcode, _ in computations[name]]
    every = [opcode for of in computations.values() for opcode, _ in of]
    return {
        "fusions": run.count("fusion"),
        "custom_calls": run.count("custom-call"),
        "collectives": sum(opcode.removesuffix("-start") in _COLLECTIVES for opcode in run),
        "copies": run.count("copy") + run.count("copy-start"),
        "while_loops": run.count("while"),
        "instructions": sum(opcode not in _NO_WORK for opcode in every),
    }


def _parsed(text):
    """Each computation's instructions, as opcode and line; and the name of the one where it begins."""
    computations, entry, of = {}, None, None
    for line in text.splitlines():
        if (header := _HEADER.match(line)) and not line.startswith("HloModule"):
            of = computations.setdefault(header[2], [])
            entry = header[2] if header[1] else entry
        elif line.startswith("}"):
            of = None
        elif of is not None and (opcode := _opcode(line)):
            of.append((opcode, line))
    if entry is None:
        raise NotTold("the optimised HLO has no entry")
    return computations, entry


def _opcode(line):
    """The opcode of an instruction, which stands behind its shape: a tuple's shape has brackets and spaces in it."""
    _, equals, rest = line.partition(" = ")
    if not equals:
        return None
    if rest.startswith("("):
        depth = 0
        for end, letter in enumerate(rest):
            depth += (letter == "(") - (letter == ")")
            if not depth:
                rest = rest[end + 1 :]
                break
    else:
        rest = rest[rest.find(" ") :]
    found = re.match(r"\s*([a-z][\w-]*)\(", rest)
    return found and found[1]


def of_ptx(text):
    """Counts of the PTX: kernels, instructions, and the virtual registers that the kernels declare.

    A GPU has real registers; which get them the driver's compiler decides, that is not here.
    """
    instructions = re.findall(r"^\s+(?:@!?%p\d+\s+)?[a-z][\w.:]*(?:\s[^;]*)?;", text, re.M)
    return {
        "kernels": len(re.findall(r"^\s*(?:\.visible )?\.entry ", text, re.M)),
        "ptx_instructions": len(instructions),
        "ptx_registers": sum(int(each) - 1 for each in re.findall(r"^\s*\.reg \.\w+\s+%\w+<(\d+)>;", text, re.M)),
    }


def of_thunks(text):
    """The places where a kernel of XLA's own is launched, by the sequence of thunks; a library's are its own business.

    Raises NotTold where the sequence leaves something out, or has a kind of thunk in it that is not known here.
    """
    lines = [line for line in text.splitlines() if line.strip()]
    found = [(place, kind) for place, line in enumerate(lines) for kind in _THUNK.findall(line)]
    kinds = [kind for _, kind in found]
    if unknown := sorted(set(kinds) - _LAUNCHING - _HOLDING.keys() - _OTHERS):
        raise NotTold(f"this release's list of thunks has kinds that are not known here: {', '.join(unknown)}")
    for place, kind in found:
        holding, head = _HOLDING.get(kind, ("", ""))
        if holding and not re.match(head, "\n".join(lines[place : place + 2])):
            raise NotTold(f"this release's list of thunks leaves out what is in {holding}")
    if not kinds:
        raise NotTold("this release's list of thunks is empty")
    return {"launches": sum(kind in _LAUNCHING for kind in kinds)}


def of_buffers(text):
    """Bytes of the arguments, of what is returned, and of what is needed in between, by the assignment of buffers.

    What an output shares with an argument counts as both.
    """
    found = re.findall(r"^allocation \d+: size (\d+)(.*)$", text.partition("Total bytes used")[0], re.M)
    if not found:
        raise NotTold("the assignment of buffers lists none")
    return {
        "argument_bytes": sum(int(size) for size, what in found if ", parameter " in what),
        "output_bytes": sum(int(size) for size, what in found if ", maybe-live-out" in what),
        "temporary_bytes": sum(int(size) for size, what in found if ", preallocated-temp" in what),
    }
