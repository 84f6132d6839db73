"""What jax.export wrote with jax 0.8.1 or before is not read any more from jax 0.11.1 on

    jax.export.deserialize(path.read_bytes())    # ValueError: Exported being deserialized seems to be older than the
                                                 # 6-month backward-compatibility window

JAX's page promises six months, and holds to them: what jax 0.4.24 to 0.8.1 wrote is read by every release up to 0.11.0,
two years on, and by none after that. The error says "seems": it goes by a number of devices, which is kept elsewhere
since 0.8.2. A flag has it read all the same, which jax#39494 brought with a note of which JAX wrote the file. It gives
the right answer here; its name says that it is not for ever.

The other direction is promised for three weeks. What jax 0.9.2 wrote needs 0.8.2: from 0.4.36 to 0.8.1 it is read, and
refused when it is called, since it "was exported for 0 devices"; before, it is refused as it is read.

To read one takes flatbuffers, and up to 0.6.1 absl, too, which no metadata asks for.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround

# `x + x` of two float32, as jax.export serialised it, compressed, and in letters.
_BY_0_4_30 = (
    "c-n1K-A>d%6h5=lp>)ShY3imDY*w-oSb<#-H$VjZK_f(riF)6Z-2y}Umv*{g6Cc3~FTC(kd<d_70<XOB0ldI7?Gi9?+SBvRcjh~DrafH(fcx"
    "+Qp2H4o!6R6M6?lNmJ-7>Z;5N*_EvSQr48T)R!zlgd+O<ivPiS9iDo)@l`fn5aiMB-*U&BZ>c9DB?^!puoFa6^%I5>Lijn=x`-8CQ%Ba~1^b"
    "=}}pyym2@o18CmeDDo41bCU;#+y1gwYfQ`c*3|zb=%Qve_9r0tieob@P<ioVl&GkfUe0L%AM`m-MJ_1m3zo$*&K6O%bh1|-d$K^?PjOvF0Zl"
    "$M>kg8^$oV@=$yG7cbU@14cgyq>y$ogu>F_)O?TDpx$Eu*F-Wb}p@xAQQD$iSj9A3bDPhziO`S4MS&L1zu_i)vjZiv;F#^A|zRBsl)waz(Yc"
    "<`bv(VYL?WSp&+&V5qC`AmTvoL`u85UsxCq+E)M(f}YhstGvEV5Xkd>nbP9|f?J%S^<ldvNYwbc;O5z5L8i120X&ag=1~naCrEFl9F`A}{qb"
    "DWpi^{F=*xG!z3rhjSslVN&4N0Y5wSd?~ZMtUw7oIZgvCAfNE6fRV_>u?U46!-Y~WRq9Sp;m8+pr-y~ZB<D_broC$C&>ts-^pFc+7@YV;D9a"
    "<@4hTIFpCkY(2c)PLgR08_yAnXP)*vn5=D3O-TwY#Y;SV?P55(x|+Ksi!KScXDSvON=s$=&9OoNW7BL1iOj+*HzUQ@ro%0GHuuCAAP%Aur)R"
    "YWVfD=nE|t-JuH&?YYo{sK6|rm6"
)
_BY_0_9_2 = (
    "c-nPROK;Oa5T4C=>o}XpjZ74x)Jmf?Y7I@=P*A7{2q6wR6qVP7ljSBZapjl%sEWkD<H7-nEB}I@5XPHC&4t<hG~dpAv$NXWQz+~ayoEO~f#>"
    "iPPT`m$2e1!&@DLurE>xiciqsvE65zGu73ud&_fQCXgaZOA)a0jYWQ3okq7G%Qu-`=9UHtu6`;<9XzB|3Rv~Nel(b;eeti>7E7z$K%qlsT$2"
    "xh6e=m}j20u5cXX`(>^-JqagT<EA8O||r+Q%BBgsA{5yI&!_vfY-Uf8)k#?rrB!qR>SO>oi1+=xT+1tX8(|zL<J8JAJ<q<MI6=e?3vjyyQJ("
    "hjg?9kY8vf~TvIMN`@mGDDld_7e9ur-EaU=(0eq)P-5KQ=;tr)5BzQ<C?izZRH~ZGP(a`I<s9)utpLrqNF8m0BXrB8nT<778E&-hRyl{z|<w"
    ";nuNtz{I`1KXsICsN5byGWCII(NTk^e1-l6c{z0R*(uFw6rxc9P7?yeLfXV~HF4-poni#>?z^l+%sFU9mV?Evyr23hTsVb)Hqb#7%QQv%T;-"
    "f)$6rp@YXH^=43RaNc9W8k~&J<=ZOql>ugP4%@cLO_$5%hJW7Te~6Q+qHJjk|Ag>;t=lD3X#kW#g&oQMSM!T%%B$9;;_Dr+>x;iz1tHZHxsx"
    ">c#mh3I$k?Wqt+^rxP*>R86Z`}2hJPU"
)


def _called(written: str) -> tuple[str, str]:
    """What a file gives for [1, 2], when it is read and called."""
    import base64
    import zlib

    import numpy as np

    try:
        from jax import export
    except ImportError:
        try:
            from jax.experimental import export
        except ImportError:
            return "absent", "there is no jax.export"
    if not hasattr(export, "deserialize"):
        return "absent", "it reads no files"
    exported = export.deserialize(bytearray(zlib.decompress(base64.b85decode(written))))
    call = exported.call if hasattr(exported, "call") else export.call(exported)
    got = call(np.array([1.0, 2.0], np.float32)).tolist()
    return ("read" if got == [2.0, 4.0] else "other"), f"{got}"


def older() -> tuple[str, str]:
    """Is a file read that jax 0.4.30 wrote?"""
    return _called(_BY_0_4_30)


def its_own() -> None:
    """What a release writes it reads."""
    import jax
    import numpy as np

    double = jax.jit(lambda x: x + x)
    assert double(np.ones(2, np.float32)).tolist() == [2.0, 2.0]
    try:
        from jax import export
    except ImportError:
        return
    exported = export.export(double)(np.ones(2, np.float32))
    assert export.deserialize(exported.serialize()).call(np.ones(2, np.float32)).tolist() == [2.0, 2.0]


def newer() -> tuple[str, str]:
    """Is one that jax 0.9.2 wrote?"""
    return _called(_BY_0_9_2)


_ABSENT = Rule("absent", "jax<0.4.24")
# What reads a file imports flatbuffers; up to 0.6.1 the module imports absl, and without it is not found.
_LACKING = (Rule("not-installed", "absl-py jax>=0.4.30"), Rule("not-installed", "jax>=0.6.2"), Rule("absent"))
_READ = "files by 0.4.24 to 0.8.1"

ISSUE = Issue(
    kind="by-design",
    upstream=Upstream.of(change="jax#39494", docs="jax:export/export.html#compatibility-guarantees"),
    touches=("jax.export.deserialize", "jax.export.Exported.serialize", "jax.export.export", "jax.experimental.export"),
    control=its_own,
    behaviours={"read": "clear", "no-devices": "guarded", "other": "different"},
    cases=(
        Case(
            older,
            signatures={"refused": Signature("ValueError", "older than the 6-month backward-compatibility window")},
            rules=(
                _ABSENT,
                Rule("read", "absl-py flatbuffers jax<0.11.1", _READ),
                Rule("read", "flatbuffers jax>=0.6.2,<0.11.1", _READ),
                Rule("refused", "flatbuffers jax>=0.11.1", "jax#39494"),
                *_LACKING,
            ),
            workaround=Workaround(
                "JAX_EXPORT_DESERIALIZE_EXPIRED_VERSIONS=1 in the environment; better, export it again.",
                environment={"JAX_EXPORT_DESERIALIZE_EXPIRED_VERSIONS": "1"},
                fails=("jax<0.4.24",),
            ),
        ),
        Case(
            newer,
            signatures={
                "refused": (
                    Signature("NotImplementedError", "deserialize unsupported version"),
                    Signature("XlaRuntimeError", "Failed to deserialize StableHLO"),
                ),
                "no-devices": Signature("ValueError", "was exported for 0 devices"),
            },
            rules=(
                _ABSENT,
                Rule("refused", "absl-py flatbuffers jax<0.4.36"),
                Rule("no-devices", "absl-py flatbuffers jax<0.8.2"),
                Rule("no-devices", "flatbuffers jax>=0.6.2,<0.8.2"),
                Rule("read", "flatbuffers jax>=0.8.2"),
                *_LACKING,
            ),
        ),
    ),
)
