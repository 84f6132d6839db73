"""jax.export files of a much older or newer JAX are refused

`jax.export` reads files of releases up to six months older and three weeks newer (docs). jax@194ba2c922 stops reading
the old field for the number of devices, and jax@76eb902f16 stops reading the old form of shardings. With the flag of
jax#39494, JAX reads the old field for the time being, but not the old shardings (`sharded`). An older JAX can read a
newer file without its devices, and then refuses to call the function (`newer`).
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

# The same with in_shardings and out_shardings, over one CPU.
_SHARDED_BY_0_8_3 = (
    "c-oCq-A)rh6h5<OhwXN0mS$}V)=h2d1}k<;g+_@8_=AE%5V+90W=j{lWVhYy4?@CYc;SQi7(9RvVd5j;*(q3VOgtyw%y)j~%$do|B4qLiw%{#nz$"
    "!e0WmqKp0o;dsFbj8J2BskovdDW(5r8*>=f(V8n&5))jqpRt;*1pFlK8J{%p!n~Sqw!ilUL;5-T8e`I82<L?{4kvbx+%Nd&zDCt0|1D8bck?;7Yk"
    "t#q>~P9Yxc%I)OybRM#p3nt@u`(91e6X}Y25l`MmCP3MYHRwP@h@?sG=S5eUlIxli=6dCXmFY`H7G3OYsm}ZrmrP{n%w|KRQiuHQC)M%LtO<p6bW"
    "Nw=6C0=hLT7?omXB<};T3o{yjHwng=Mi5QaJ^Gk5Vs5b!|r;=Y?upX(`+%7Nm2t<l{!GK%AYvfC!Zp3B2#gLA^*s@A~%q#X=PBRD%2@el^Nm`GS0"
    "x3+jQ7kg&V42@j0upVwLnFU4UBbrJkR7Lx}t5a60fu5RCe%??T|l12|5HM|7v)^!wQqxk(xgGuBFiu+{IZw7y1O;@aUkoH%E88oO~f9yp=f4M+ZY"
    "Fp9!~7Y7hfU3-`Y-Oz~=FY!jhc;buP(D#m<7*4#T+x4BG*LUD7vmUOFt+hsr8h{%M!Zd-^ahq%4WS!fzY1H?IUql;`8>fEK^@hhI7;^|5I%1giXe"
    "Y>36h6=RQ$>5Z`EG9?#Cwv(%K|tGQ@AZRvE{3)tK79qqalZP8GFyz0h{D}{*RoWltWftzEwM$pAar6mhl<FG$~a81*Qc1*P6@8o{}Vf*?4{S$EHC"
    "O*?Cb(i1>;*5s`)OW-Ytsvd}UAd*LL10MwqDzy"
)


def _called(written: str) -> tuple[str, str]:
    """Read an exported function from a file and call it with [1, 2]."""
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
    """Does jax.export.deserialize read a file that jax 0.4.30 wrote?"""
    return _called(_BY_0_4_30)


def its_own() -> None:
    """jax.export reads a file that the same release wrote."""
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


def exported_again() -> None:
    """A file of jax 0.4.30, read, called and exported again, is then read without the flag for expired versions."""
    import base64
    import zlib

    import jax
    import numpy as np

    try:
        from jax import export
    except ImportError:
        return  # jax.experimental.export is not under the promise.
    old = export.deserialize(bytearray(zlib.decompress(base64.b85decode(_BY_0_4_30))))
    x = np.array([np.nan, -3.5], np.float32)
    np.testing.assert_array_equal(jax.jit(old.call)(x), [np.nan, -7.0])
    again = export.export(jax.jit(old.call))(x).serialize()
    if hasattr(jax.config, "jax_export_deserialize_expired_versions"):
        jax.config.update("jax_export_deserialize_expired_versions", False)
    np.testing.assert_array_equal(export.deserialize(again).call(x), [np.nan, -7.0])


def sharded() -> tuple[str, str]:
    """Does jax.export.deserialize read a file with shardings that jax 0.8.3 wrote?"""
    return _called(_SHARDED_BY_0_8_3)


def newer() -> tuple[str, str]:
    """Does jax.export.deserialize read a file that jax 0.9.2 wrote?"""
    return _called(_BY_0_9_2)


_ABSENT = Rule("absent", "jax<0.4.24")
# What reads a file imports flatbuffers; up to 0.6.1 the module imports absl, and without it is not found.
_LACKING = (Rule("not-installed", "absl-py jax>=0.4.30"), Rule("not-installed", "jax>=0.6.2"), Rule("absent"))
_OLD = Signature("ValueError", "older than the 6-month backward-compatibility window")
_NEW = (
    Signature("NotImplementedError", "deserialize unsupported version"),
    Signature("XlaRuntimeError", "Failed to deserialize StableHLO"),
)

ISSUE = Issue(
    kind="by-design",
    upstream=Upstream.of(
        change="jax@194ba2c922 jax@76eb902f16 jax#39494", docs="jax:export/export.html#compatibility-guarantees"
    ),
    touches=("jax.export.deserialize", "jax.experimental.export.deserialize"),
    control=its_own,
    behaviours={"read": "clear", "other": "different"},
    cases=(
        Case(
            older,
            signatures={"refused": _OLD},
            rules=(
                _ABSENT,
                Rule("read", "absl-py flatbuffers jax<0.11.1"),
                Rule("read", "flatbuffers jax>=0.6.2,<0.11.1"),
                Rule("refused", "flatbuffers jax>=0.11.1", "jax@194ba2c922"),
                *_LACKING,
            ),
            workaround=Workaround(
                "Set JAX_EXPORT_DESERIALIZE_EXPIRED_VERSIONS=1 once, and export jax.jit(exported.call) again, "
                "with the file's platforms and vjp_order.",
                environment={"JAX_EXPORT_DESERIALIZE_EXPIRED_VERSIONS": "1"},
                fails=("jax<0.4.24",),
                elsewhere=exported_again,
            ),
        ),
        Case(
            sharded,
            signatures={"refused": _OLD, "not-yet": _NEW},
            rules=(
                _ABSENT,
                Rule("not-yet", "absl-py flatbuffers jax<0.6.2"),
                Rule("not-yet", "flatbuffers jax>=0.6.2,<0.7.0"),
                Rule("read", "flatbuffers jax>=0.7.0,<0.11.1"),
                Rule("refused", "flatbuffers jax>=0.11.1", "jax@76eb902f16"),
                *_LACKING,
            ),
        ),
        Case(
            newer,
            signatures={"refused": _NEW, "no-devices": Signature("ValueError", "was exported for 0 devices")},
            rules=(
                _ABSENT,
                Rule("refused", "absl-py flatbuffers jax<0.4.36"),
                Rule("no-devices", "absl-py flatbuffers jax<0.8.2", "jax@9f327f6956 writes only the new device field"),
                Rule("no-devices", "flatbuffers jax>=0.6.2,<0.8.2"),
                Rule("read", "flatbuffers jax>=0.8.2"),
                *_LACKING,
            ),
        ),
    ),
)
