export PATH="@SHIMS@:$PATH"
export SHELL="@SHIMS@/bash"
