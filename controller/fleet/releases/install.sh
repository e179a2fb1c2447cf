#!/bin/sh
# Installs, updates or removes the Headgate agent on Linux.
#
#   curl -fsSL https://headgate.example.com/agent/install.sh | SVC_TOKEN=… sh -s -- [options]
#
#   --version <v>   this version instead of the newest
#   --channel <c>   stable (default) or dev
#   --user <u>      the user that the agent runs as (default headgate-agent, which is created; root for privileged sources)
#   --prefix <dir>  the target: <dir>/lib/headgate-agent and a link in <dir>/bin (default /usr/local)
#   --no-service    only the program, without service, user and settings
#   --uninstall     removes the service and the program; --purge also its data, settings and user
#
# The first installation copies all SVC_* variables (SVC_TOKEN, SVC_ENGINE_BIN, SVC_NODE_LABELS, SVC_DATA_DIR, …) and
# HTTPS_PROXY, HTTP_PROXY, NO_PROXY, NODE_EXTRA_CA_CERTS and SSL_CERT_FILE from the environment into the settings of the
# service. With DESTDIR set, for building images, everything is installed below that folder, no user is created and nothing
# is started.
set -eu
umask 022
# Plain su keeps the user's path, which may lack these folders.
PATH=$PATH:/usr/sbin:/sbin

BASE_URL=''

NAME=headgate-agent
DESTDIR=${DESTDIR:-}
CONFIG=$DESTDIR/etc/headgate-agent
UNIT=$DESTDIR/etc/systemd/system/$NAME.service
WORK=''

info() { printf '%s\n' "$*"; }
fail() {
  printf 'install: %s\n' "$*" >&2
  exit 1
}
have() { command -v "$1" >/dev/null 2>&1; }

clean() {
  [ -z "$WORK" ] || rm -rf "$WORK"
  rm -f "$CONFIG/agent.env.new" 2>/dev/null || true
  # Only if it is empty.
  rmdir "$lib" 2>/dev/null || true
}

# fetch <url> <file>
fetch() {
  if have curl; then
    case $BASE_URL in https:*) proto='=https' ;; *) proto='=http,https' ;; esac
    curl -fsSL --proto "$proto" --connect-timeout 20 --max-time 600 --retry 2 -o "$2" "$1"
  elif have wget; then
    # No time limit: some wgets of BusyBox crash on the option.
    wget -q -O "$2" "$1"
  else
    fail 'curl or wget is needed; install one of them'
  fi
}

digest() {
  if have sha256sum; then
    sha256sum "$1" | cut -d ' ' -f 1
  elif have openssl; then
    openssl dgst -sha256 -r "$1" | cut -d ' ' -f 1
  else
    fail 'sha256sum or openssl is needed; install one of them'
  fi
}

architecture() {
  case $(uname -m) in
    x86_64 | amd64) echo x64 ;;
    aarch64 | arm64) echo arm64 ;;
    *) fail "there is no agent for the processor $(uname -m): x86_64 and aarch64 are supported" ;;
  esac
}

# Either C library may be installed beside the other one; ldd shows which one the system uses.
c_library() {
  case $(ldd --version 2>&1 || true) in
    *musl*)
      echo -musl
      return
      ;;
    *GLIBC* | *GNU* | *'Free Software'*) return ;;
  esac
  for loader in /lib/ld-musl-*; do
    [ ! -e "$loader" ] || [ -e /lib64/ld-linux-x86-64.so.2 ] || [ -e /lib/ld-linux-aarch64.so.1 ] || {
      echo -musl
      return
    }
  done
}

with_systemd() { [ -d /run/systemd/system ] && have systemctl; }

is_path() {
  case $1 in
    *[!A-Za-z0-9/._+-]* | */../* | */..) return 1 ;;
    /?*) ;;
    *) return 1 ;;
  esac
}

is_word() {
  case $1 in
    '' | -* | .* | *[!A-Za-z0-9._+-]*) return 1 ;;
  esac
}

# Processes that run a program in this folder, without those in containers.
running() {
  for process in /proc/[0-9]*; do
    case $(readlink "$process/exe" 2>/dev/null || true) in
      "$1"/*) [ "$(readlink "$process/ns/mnt")" != "$(readlink /proc/self/ns/mnt)" ] || echo "${process#/proc/}" ;;
    esac
  done
}

# An agent that was not started by systemd would write its token again. The program is already deleted, so no agent starts
# again. Engines may drain for up to 605 s (drainSeconds of their pipelines).
stop_agents() {
  program=$(cd "${lib%/*}" 2>/dev/null && pwd -P)/$NAME || return 0
  for pid in $(running "$program"); do kill "$pid" 2>/dev/null || true; done
  waited=0
  while pids=$(running "$program") && [ -n "$pids" ]; do
    [ "$waited" -lt 630 ] || fail "the agent does not end: end process" $pids "and run this again"
    sleep 1
    waited=$((waited + 1))
  done
}

uninstall() {
  if [ "$service" = 1 ] && with_systemd; then
    systemctl disable --now "$NAME" >/dev/null 2>&1 || true
    rm -f "$UNIT"
    systemctl daemon-reload || true
  fi
  rm -rf "$lib"
  [ ! -L "$bin/$NAME" ] || rm -f "$bin/$NAME"
  info "removed $lib"
  [ "$service" = 1 ] || return 0
  stop_agents
  data=$DESTDIR$(data_dir)
  if [ "$purge" = 0 ]; then
    info "kept: $data and $CONFIG (--uninstall --purge removes them)"
    return 0
  fi
  # Only the files of an agent, and the folder itself if it is empty then: others may use it too.
  if [ -e "$data/node-token" ]; then
    for entry in agent.lock pipelines certs data node-token; do
      rm -rf "${data:?}/$entry"
    done
  fi
  rmdir "$data" 2>/dev/null || true
  rm -rf "$CONFIG"
  if [ -z "$DESTDIR" ]; then
    userdel "$NAME" >/dev/null 2>&1 || deluser "$NAME" >/dev/null 2>&1 || true
  fi
  info "removed the data in $data, and $CONFIG"
}

# The value of a variable in the settings of the service.
setting() {
  [ ! -r "$CONFIG/agent.env" ] || sed -n "s/^$1=//p" "$CONFIG/agent.env" | tail -n 1 | sed 's/^"\(.*\)"$/\1/'
}

data_dir() {
  data=$(setting SVC_DATA_DIR)
  printf '%s' "${data:-/var/lib/svc-agent}"
}

make_user() {
  if id "$user" >/dev/null 2>&1; then
    return 0
  fi
  [ "$user" = "$NAME" ] || fail "there is no user $user; create it first"
  if have useradd; then
    useradd --system --home-dir /nonexistent --no-create-home --shell /usr/sbin/nologin "$user"
  elif have adduser; then
    adduser -S -D -H -h /nonexistent -s /sbin/nologin "$user"
  else
    fail "the user $user cannot be created: there is neither useradd nor adduser"
  fi || fail "the user $user cannot be created"
}

# In the format of systemd's EnvironmentFile: in double quotes, with \ and " escaped by a backslash.
write_settings() {
  mkdir -p "$CONFIG"
  if [ -e "$CONFIG/agent.env" ]; then
    info "kept $CONFIG/agent.env"
    [ -z "${SVC_TOKEN:-}" ] || info "the SVC_TOKEN given now is not in it: to enroll again, put it there, stop the agent, delete $(data_dir)/node-token, and start it again"
    return 0
  fi
  (
    umask 077
    {
      printf '%s\n' '# Settings of the Headgate agent. SVC_TOKEN is used once: remove its line when the node is enrolled.'
      printf 'SVC_URL=%s\n' "${SVC_URL:-$BASE_URL}"
      env | sed -n '/^SVC_URL=/d; /^SVC_[A-Z_]*=[ -~]*$/p; /^HTTPS*_PROXY=[ -~]*$/p; /^NO_PROXY=[ -~]*$/p; /^NODE_EXTRA_CA_CERTS=[ -~]*$/p; /^SSL_CERT_FILE=[ -~]*$/p' | sed 's/\\/\\\\/g; s/"/\\"/g; s/=\(.*\)$/="\1"/'
    } >"$CONFIG/agent.env.new"
  ) || fail "cannot write $CONFIG/agent.env"
  mv -f "$CONFIG/agent.env.new" "$CONFIG/agent.env"
}

# A folder that contains other files keeps its owner and mode: others may use it too.
make_data() {
  data=$(data_dir)
  is_path "$data" || fail "SVC_DATA_DIR must be an absolute path of letters, digits, dots, dashes and underscores"
  mkdir -p "$DESTDIR$data"
  if [ -n "$DESTDIR" ]; then
    return 0
  elif [ -n "$(ls -A "$data/")" ] && [ ! -e "$data/node-token" ]; then
    info "$data is not empty and keeps its owner and mode: $user must be able to write there"
    return 0
  fi
  if [ -z "$(find "$data/" -prune -user "$user")" ]; then
    # Files that the agent wrote as another user.
    for entry in node-token pipelines certs data; do
      [ ! -e "$data/$entry" ] || chown -R -h "$user" "$data/$entry"
    done
  fi
  chown "$user" "$data"
  chmod 700 "$data"
}

write_unit() {
  executable=$prefix/lib/$NAME/$NAME
  mkdir -p "$(dirname "$UNIT")"
  cat >"$UNIT.new" <<END
[Unit]
Description=Headgate agent
Documentation=$BASE_URL
Wants=network-online.target
After=network-online.target
StartLimitIntervalSec=0

[Service]
User=$user
EnvironmentFile=${CONFIG#"$DESTDIR"}/agent.env
# Reverts an update that did not survive until its first poll.
ExecStartPre=/bin/sh -c '[ ! -e $executable.previous ] || { [ ! -e $executable.pending ] || mv -f $executable.pending $executable.failed; mv -f $executable.previous $executable; }'
ExecStart=$executable${channel:+ --channel $channel}
Restart=always
RestartSec=2
KillMode=mixed
TimeoutStopSec=630
LimitNOFILE=65536
LimitCORE=0
UMask=0077
NoNewPrivileges=yes
ProtectSystem=full
ReadWritePaths=$prefix/lib/$NAME $data
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectControlGroups=yes
RestrictSUIDSGID=yes
LockPersonality=yes

[Install]
WantedBy=multi-user.target
END
  if cmp -s "$UNIT.new" "$UNIT"; then
    rm -f "$UNIT.new"
  else
    mv -f "$UNIT.new" "$UNIT"
    changed=1
  fi
}

# The program is replaced in one step, so a running agent is not disturbed. Everything is prepared next to its folder and not
# in it: the folder belongs to the user of the agent, who could replace what root writes, checks and runs there.
install_program() {
  arch=$(architecture)
  file=$NAME-linux-$arch$(c_library)
  release=$BASE_URL/agent/releases
  { mkdir -p "$lib" "$bin" && WORK=$(mktemp -d "$DESTDIR$prefix/lib/.$NAME.XXXXXX"); } 2>/dev/null ||
    fail "cannot write to $lib; run this as root, or give --prefix"
  if [ -z "$version" ]; then
    fetch "$release/${channel:-stable}/VERSION" "$WORK/VERSION" || fail "$BASE_URL serves no agent of the channel ${channel:-stable}, or cannot be reached"
    version=$(cat "$WORK/VERSION")
    is_word "$version" || fail "$BASE_URL names no version; is it a Headgate controller?"
  fi
  fetch "$release/$version/SHA256SUMS" "$WORK/SHA256SUMS" || fail "$BASE_URL does not serve the agent $version"
  wanted=$(sed -n "s/^\([0-9a-f]\{64\}\)  $file\$/\1/p" "$WORK/SHA256SUMS")
  [ -n "$wanted" ] || fail "the agent $version was not built for this machine ($file)"
  if [ -x "$lib/$NAME" ] && [ "$(digest "$lib/$NAME")" = "$wanted" ]; then
    info "$lib/$NAME is $version already"
  else
    fetch "$release/$version/$file" "$WORK/$NAME" || fail "the download of $file broke off; run this again"
    [ "$(digest "$WORK/$NAME")" = "$wanted" ] || fail "the SHA-256 of $file is not the announced one; nothing was installed"
    chmod 755 "$WORK/$NAME"
    reported=$("$WORK/$NAME" --version) || fail "$file does not run on this machine$(missing_libraries)"
    [ "$reported" = "$version" ] || fail "$file reports the version $reported instead of $version; nothing was installed"
    [ ! -d "$lib/$NAME" ] || fail "$lib/$NAME is a folder; remove it"
    mv -f "$WORK/$NAME" "$lib/$NAME"
    rm -f "$lib/$NAME.previous" "$lib/$NAME.pending" "$lib/$NAME.failed"
    info "installed $lib/$NAME $version"
    changed=1
  fi
  ln -sfn "../lib/$NAME/$NAME" "$bin/$NAME"
}

# The agents for musl use these libraries of the machine.
missing_libraries() {
  [ "$(c_library)" != -musl ] || echo '; it needs libstdc++ and libgcc (apk add libstdc++ libgcc)'
}

start_service() {
  make_data
  if [ -n "$DESTDIR" ]; then
    write_unit
    return 0
  fi
  # The agent replaces its own program when the controller updates it.
  chown -h "$user" "$lib" "$lib/$NAME"
  if ! with_systemd; then
    info "there is no systemd here: run $prefix/bin/$NAME as $user under a supervisor, with the settings in $CONFIG/agent.env"
    return 0
  fi
  write_unit
  systemctl daemon-reload
  systemctl enable "$NAME" >/dev/null 2>&1
  # Engines are not disturbed if nothing changed.
  if [ "$changed" = 1 ]; then action=restart; else action=start; fi
  systemctl "$action" "$NAME" || fail "the service does not start; see: journalctl -u $NAME"
  # An agent that cannot enroll, or has a wrong setting, exits within a second.
  sleep 1
  systemctl is-active --quiet "$NAME" || fail "the service does not stay up; see: journalctl -u $NAME"
  info "$NAME runs; see: journalctl -u $NAME"
  [ -n "$(setting SVC_ENGINE_BIN)" ] || have vector || info 'no engine is on the path: install Vector, or set SVC_ENGINE_BIN'
}

main() {
  version='' channel='' user='' prefix=/usr/local service=1 uninstall=0 purge=0 changed=0
  while [ $# -gt 0 ]; do
    case $1 in
      --version | --channel | --user | --prefix)
        [ $# -gt 1 ] || fail "$1 needs a value"
        ;;
    esac
    case $1 in
      --version) version=$2 && shift ;;
      --channel) channel=$2 && shift ;;
      --user) user=$2 && shift ;;
      --prefix) prefix=$2 && shift ;;
      --no-service) service=0 ;;
      --uninstall) uninstall=1 ;;
      --purge) purge=1 ;;
      *) fail "unknown option $1; there are --version, --channel, --user, --prefix, --no-service, --uninstall, --purge" ;;
    esac
    shift
  done
  case $channel in '' | stable | dev) ;; *) fail '--channel must be stable or dev' ;; esac
  is_path "$prefix" || fail '--prefix must be an absolute path of letters, digits, dots, dashes and underscores'
  [ -z "$version" ] || is_word "$version" || fail '--version must be like v1.2.3'
  [ -z "$user" ] || is_word "$user" || fail '--user must be the name of a user'
  user=${user:-$NAME} lib=$DESTDIR$prefix/lib/$NAME bin=$DESTDIR$prefix/bin
  [ "$(uname -s)" = Linux ] || fail "there is no agent for $(uname -s)"
  [ "$service" = 0 ] || [ -n "$DESTDIR" ] || [ "$(id -u)" = 0 ] || fail 'the service needs root: run this as root, or give --no-service and --prefix'
  trap clean EXIT
  trap 'exit 1' HUP INT TERM
  if [ "$uninstall" = 1 ]; then
    uninstall
    return 0
  fi
  install_program
  if [ "$service" = 0 ]; then
    info "start it with: SVC_URL=$BASE_URL SVC_TOKEN=… $bin/$NAME"
    return 0
  fi
  [ -e "$CONFIG/agent.env" ] || [ -e "$DESTDIR${SVC_DATA_DIR:-/var/lib/svc-agent}/node-token" ] || [ -n "${SVC_TOKEN:-}" ] || info "no SVC_TOKEN was given: put one into $CONFIG/agent.env"
  [ -n "$DESTDIR" ] || make_user
  write_settings
  start_service
}

# The call is the last line, so a script that was cut off does nothing.
main "$@"
