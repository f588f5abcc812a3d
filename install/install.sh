#!/bin/sh
# Builds a static vetsh, installs its shims into a folder and runs a first command through them.
#
# usage: install.sh [DIR]        default: ~/.local/share/vetsh/shims
#
# Needs cargo and a C compiler. The musl target and musl-gcc are fetched where that is possible (rustup; apt-get as
# root); without them the build links glibc statically. `uninstall.sh` undoes it.
set -eu

say() { printf '%s\n' "install.sh: $*"; }
fail() {
    say "$*" >&2
    exit 1
}

cd "$(dirname "$0")/.."
shims=${1:-${XDG_DATA_HOME:-$HOME/.local/share}/vetsh/shims}

# Rust usually lives in the home folder of the user database, which HOME need not name.
if ! cargo --version >/dev/null 2>&1; then
    home=$(awk -F: -v id="$(id -u)" '$3 == id { print $6; exit }' /etc/passwd)
    export RUSTUP_HOME="${RUSTUP_HOME:-$home/.rustup}" CARGO_HOME="${CARGO_HOME:-$home/.cargo}"
    PATH=$CARGO_HOME/bin:$PATH
    cargo --version >/dev/null 2>&1 || fail "cargo is not to be found: install Rust (https://rustup.rs), then run this again"
fi
host=$(rustc -vV | sed -n 's/^host: //p')
case $host in
*-linux-*) ;;
*) fail "vetsh runs on Linux only, and this is $host" ;;
esac
musl=${host%%-*}-unknown-linux-musl

# What the musl build needs; each step may fail, then glibc is linked statically.
have_musl() {
    if ! command -v musl-gcc >/dev/null 2>&1; then
        if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then return 1; fi
        say "fetching musl-tools"
        { apt-get update -qq && apt-get install -y -qq musl-tools; } >/dev/null 2>&1 || return 1
    fi
    if [ -d "$(rustc --print sysroot)/lib/rustlib/$musl" ]; then return 0; fi
    command -v rustup >/dev/null 2>&1 || return 1
    say "fetching the Rust target $musl"
    rustup target add "$musl" >/dev/null 2>&1
}

if have_musl; then
    target=$musl
    export "CC_$(printf %s "$musl" | tr - _)=musl-gcc"
else
    target=$host
    export RUSTFLAGS="${RUSTFLAGS:-} -C target-feature=+crt-static -C relocation-model=static"
fi
say "building for $target, statically linked; this takes a few minutes"
cargo build --release --locked --quiet --target "$target"

"${CARGO_TARGET_DIR:-target}/$target/release/vetsh" install --shims "$shims"

echo
say "a first command through the shim:"
"$shims/bash" -c 'echo hello from the real shell'
say "and what the log says about it:"
"$shims/vetsh" log | tail -n 1
