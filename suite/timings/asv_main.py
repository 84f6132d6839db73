"""asv's command line, except for where it looks a machine up.

asv keeps what it knows of machines in a file in the user's home, under the host's name, and without one it asks at the
terminal. The sessions name a machine by its processor and leave the home alone; asv has no option for that, and to give
it another HOME would hide the user's pip configuration, and with it their index.
"""

from __future__ import annotations

import os

from asv.machine import MachineCollection
from asv.main import main

if __name__ == "__main__":
    path = os.environ["SUITE_ASV_MACHINES"]
    MachineCollection.get_machine_file_path = staticmethod(lambda: path)
    main()
