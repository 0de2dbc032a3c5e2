#!/bin/sh
# The Python interpreters from 3.11 on that start here and can make an environment, oldest first: one
# of each version, by its path. Looked for on PATH, and where pyenv and uv keep those they install.
usable='import sys, venv, ensurepip
if sys.version_info < (3, 11): sys.exit(1)
print(sys.version_info[1], sys.executable)'
for name in python3.11 python3.12 python3.13 python3.14 python3 \
            "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.*/bin/python3 \
            "${XDG_DATA_HOME:-$HOME/.local/share}"/uv/python/cpython-3.*/bin/python3; do
  "$name" -c "$usable" 2>/dev/null
done | sort -n -u -k1,1 | cut -d' ' -f2-
