"""Prints where packages go below a prefix: packages_below.py PREFIX

Exit status 0: this interpreter looks there. 1: it looks nowhere below that prefix, and what is printed is only the usual place.
"""

import pathlib
import site
import sys
import sysconfig

prefix = pathlib.Path(sys.argv[1]).resolve()
# In a virtual environment the user's own directory is not looked at.
own = [site.getusersitepackages()] if site.ENABLE_USER_SITE is not False else []
for place in [*site.getsitepackages(), *own]:
    path = pathlib.Path(place).resolve()
    # lib/python3/dist-packages and its like; /usr/local/lib/... lies below /usr, too, but belongs to another prefix.
    if path.is_relative_to(prefix) and len(path.relative_to(prefix).parts) == 3:
        print(path)
        sys.exit(0)
kind = pathlib.Path(sysconfig.get_path("purelib")).name
print(prefix / "lib" / "python{}.{}".format(*sys.version_info) / kind)
sys.exit(1)
