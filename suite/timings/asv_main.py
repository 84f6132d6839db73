"""The command line of asv, with another way to find the machine.

asv keeps machines in a file in the user's home, under the host's name, and asks at the terminal where there is none.
The sessions name a machine by its processor and do not touch the home. asv has no option for that, and another HOME
would hide the user's pip configuration, and with it their index.
"""

from __future__ import annotations

import os

from asv.machine import MachineCollection
from asv.main import main

if __name__ == "__main__":
    path = os.environ["SUITE_ASV_MACHINES"]
    MachineCollection.get_machine_file_path = staticmethod(lambda: path)
    main()
