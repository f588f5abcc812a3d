#!/bin/sh
# Removes what install.sh installed.
#
# usage: uninstall.sh [DIR [--purge]]        default: ~/.local/share/vetsh/shims
#
# The policy and the log stay, unless --purge is said.
set -eu

shims=${1:-${XDG_DATA_HOME:-$HOME/.local/share}/vetsh/shims}
if [ $# -gt 0 ]; then shift; fi
exec "$shims/vetsh" uninstall --shims "$shims" "$@"
