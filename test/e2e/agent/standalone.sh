#!/bin/sh
# Runs a program under a root where the marks of a container are not, or, with "docker" as the first word, are. As root.
set -eu
mode=$1 base=$2
shift 2
root=$(mktemp -d "$base/root.XXXXXX")
mount -t tmpfs none "$root"
for entry in /*; do
  if [ -L "$entry" ]; then
    cp -P "$entry" "$root$entry"
  elif [ -d "$entry" ]; then
    mkdir "$root$entry"
    mount --rbind "$entry" "$root$entry"
  fi
done
[ "$mode" != docker ] || : >"$root/.dockerenv"
# Often not on the path of what a test starts.
exec "$(PATH=$PATH:/usr/sbin:/sbin command -v chroot)" "$root" "$@"
