#!/bin/sh
# An engine for faults. What it does stands in the pipeline's YAML as a comment: "# fault: <name>".
if [ "$1" = --version ]; then echo 'fake-engine 1.0'; exit 0; fi
if [ "$1" = list ]; then echo "error: unrecognized subcommand 'list'" >&2; exit 2; fi
if [ "$1" = tap ]; then
  # What a tap does is the component that it looks at.
  case $3 in
    leave-child) setsid sleep 5 & exit 0 ;;
    hang) sleep 1000 & exec sleep 1000 ;;
    # Ends without an event once that file is there.
    until:*) while [ ! -e "${3#until:}" ]; do sleep 0.02; done ;;
    # Shows an event once that file is there; what follows a # makes another component of it.
    after:*) file=${3#after:}; while [ ! -e "${file%%#*}" ]; do sleep 0.02; done; echo '{"log":{"n":1}}' ;;
    one-*) echo '{"log":{"n":1}}' ;;
    flood) while :; do echo '{"log":{"n":1}}'; done ;;
    huge) printf '{"log":{"big":"'; head -c 70000 /dev/zero | tr '\0' 'x'; echo '"}}'; echo '{"log":{"small":1}}' ;;
    endless) head -c 3000000 /dev/zero | tr '\0' 'y'; echo; echo 'no event'; echo '{"log":{"small":1}}' ;;
    env) printf '{"log":{"env":"%s"}}\n' "$(env | cut -d= -f1 | tr '\n' ' ')" ;;
    args) printf '{"log":{"args":"%s"}}\n' "$*" ;;
    *) printf "error: unrecognized subcommand 'tap'\n\nUsage: fake-engine\n" >&2; exit 2 ;;
  esac
  exit 0
fi
if [ "$1" = validate ]; then
  # What the check of a config answers stands there as "# validate: <answer>"; without one it is an unknown subcommand.
  answer=$(sed -n 's/^# validate: //p' "$3")
  case $answer in
    ok) printf '√ Loaded ["%s", "%s"]\n√ Transforms configuration\n√ Component configuration\n' "$3" "$4"; exit 0 ;;
    refuse) printf '√ Loaded ["a"]\n√ Transforms configuration\n\nComponent errors\n----------------\nx Sink "out": no such thing as %s\n\n' "$SVC_SECRET_A"; exit 78 ;;
    certificate) if [ -s "$SVC_CERT_DIR/ca.pem" ]; then exit 0; fi
      printf 'Component errors\n----------------\nx Sink "out": Could not open certificate file "%s/ca.pem": No such file or directory (os error 2)\n' "$SVC_CERT_DIR"; exit 78 ;;
    port) printf 'Component errors\n----------------\nx Source "in": TCP bind failed: Address already in use (os error 98)\n\n'; exit 78 ;;
    signal) kill -SEGV $$ ;;
    hang) echo "$$" >>"$SVC_SECRET_RECORD"; sleep 1000 & echo $! >>"$SVC_SECRET_RECORD"; sleep 1000 ;;
    slow) echo begin >>"$SVC_SECRET_RECORD"; sleep 0.3; echo end >>"$SVC_SECRET_RECORD"; exit 0 ;;
    *) printf "error: unexpected argument 'validate' found\n" >&2; exit 2 ;;
  esac
fi
config=$2
fault=$(sed -n 's/^# fault: //p' "$config")
# Before the first line: a test that has read it may send the signal at once.
case $fault in
  ignore-term) trap '' TERM ;;
  bye) trap 'echo bye; exit 0' TERM ;;
  *) trap 'exit 0' TERM ;;
esac
echo "started with $fault" >&2
case $fault in
  exit-0) exit 0 ;;
  exit-78) echo 'ERROR engine: Configuration error. error=no such thing' >&2; exit 78 ;;
  ignore-term) while :; do sleep 1; done ;;
  fork) sleep 1000 & echo "child $!" >&2; while :; do sleep 0.05; done ;;
  fork-and-crash) sleep 1000 & echo "child $!" >&2; exit 3 ;;
  flood) while :; do head -c 3000000 /dev/zero | tr '\0' 'x' | fold -w 100; echo >>rounds; done ;;
  long-line) head -c 10000000 /dev/zero | tr '\0' 'y' >&2; printf '\377\376\n' >&2; while :; do sleep 0.05; done ;;
  echo-env) env >&2; ulimit -c >&2; while :; do sleep 0.05; done ;;
  count) n=0; while :; do echo "count $n"; n=$((n + 1)); sleep 0.02; done ;;
  idle) sleep 100000 & wait ;;
  *) while :; do sleep 0.05; done ;;
esac
