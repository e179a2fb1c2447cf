#!/bin/sh
# Starts the agent in a container. With SVC_AGENT_USER, and as root: makes this user where it is missing, gives it the data
# directory, and runs the agent as this user. Becomes the agent, so that signals reach it.
set -eu

fail() {
  printf 'entrypoint: %s\n' "$*" >&2
  exit 1
}
have() { command -v "$1" >/dev/null 2>&1; }

agent=${SVC_AGENT_BIN:-/usr/local/bin/headgate-agent}
user=${SVC_AGENT_USER:-}
data=${SVC_DATA_DIR:-/var/lib/svc-agent}

[ -x "$agent" ] || fail "there is no agent at $agent"
case ${1:-} in
  # Options of the agent; anything else is a program to run in its place, such as a shell.
  '' | -*) set -- "$agent" "$@" ;;
esac

if [ -z "$user" ] || [ "$user" = "$(id -un 2>/dev/null || id -u)" ]; then
  exec "$@"
fi
[ "$(id -u)" = 0 ] || fail "SVC_AGENT_USER=$user needs a container that starts as root (docker run --user 0)"
case $user in
  -* | *[!A-Za-z0-9._-]*) fail 'SVC_AGENT_USER must be the name or the number of a user' ;;
esac

if ! id "$user" >/dev/null 2>&1; then
  case $user in
    # A number needs no entry.
    *[!0-9]*)
      if have useradd; then
        useradd --system --home-dir /nonexistent --no-create-home --shell /usr/sbin/nologin "$user"
      elif have adduser; then
        adduser -S -D -H -h /nonexistent -s /sbin/nologin "$user"
      else
        fail "the user $user cannot be made: there is neither useradd nor adduser"
      fi || fail "the user $user cannot be made"
      ;;
  esac
fi
uid=$(id -u "$user" 2>/dev/null) || uid=$user
gid=$(id -g "$user" 2>/dev/null) || gid=$uid

mkdir -p "$data"
# Links in it are not followed: the directory may be one of the host.
chown -Rh "$uid:$gid" "$data" || fail "the data directory $data cannot be given to $user"
chmod 700 "$data"

if have setpriv; then
  # Groups of the user let it read what they may read; a number without an entry has none.
  if id "$user" >/dev/null 2>&1; then groups=--init-groups; else groups=--clear-groups; fi
  exec setpriv --reuid "$uid" --regid "$gid" "$groups" --no-new-privs -- "$@"
elif have su-exec; then
  exec su-exec "$uid:$gid" "$@"
fi
fail 'setpriv or su-exec is needed to become another user'
