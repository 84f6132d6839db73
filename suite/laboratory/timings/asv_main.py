"""The command line of asv, with another file of machines.

asv keeps machines in a file in the home folder, by host name, and asks at the terminal without one. Our sessions name a
machine by its processor, and leave the home folder alone. asv has no option for the file, and another HOME would hide
the user's pip configuration, with its index.
"""

from __future__ import annotations

import os

from asv.machine import MachineCollection
from asv.main import main

if __name__ == "__main__":
    path = os.environ["SUITE_ASV_MACHINES"]
    MachineCollection.get_machine_file_path = staticmethod(lambda: path)
    main()
