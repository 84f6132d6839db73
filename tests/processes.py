"""How the tests start processes that they signal."""

from __future__ import annotations

import signal


def default_signals() -> None:
    """Let signals end the process about to be started: the `preexec_fn` of all that tests send signals to.

    A script's background jobs ignore SIGINT, and what `nohup` or `trap "" INT` starts passes that on.
    """
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
