import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * Looks after a process that has just become a new version, by its pid and its start: when it ends within 30 s without
 * having confirmed the update, the old executable is put back, and started where nobody else starts agents. In plain
 * shell, since it must not depend on either version. An agent that ends in order takes `.pending` away first.
 */
const SCRIPT = `
pid=$1 start=$2 exe=$3 restart=$4
alive() {
  { read -r line < "/proc/$pid/stat"; } 2>/dev/null || return 1
  set -- \${line##*) }
  [ "$1" != Z ] && [ "$1" != X ] && [ "\${20}" = "$start" ]
}
n=0
while alive; do
  [ -e "$exe.pending" ] || exit 0
  n=$((n + 1))
  [ "$n" -le 60 ] || exit 0
  sleep 0.5 2>/dev/null || { sleep 1; n=$((n + 1)); }
done
[ -e "$exe.pending" ] && [ -e "$exe.previous" ] || exit 0
mv -f "$exe.pending" "$exe.failed"
mv -f "$exe.previous" "$exe" || exit 1
[ "$restart" = 1 ] || exit 0
echo "the new version ended before its first poll; the old one is back" >&2
exec "$exe"
`;

/** Null where there is no /proc. The enrollment token does not go along: the node token is on disk. */
export function startWatchdog(
  executable: string,
  env: Readonly<Record<string, string | undefined>>,
): ChildProcess | null {
  const start = startTicks();
  if (start === undefined) return null;
  // A service manager starts agents itself, and ends this process with the group of the old one.
  const supervised = Boolean(env.INVOCATION_ID || env.SVC_SUPERVISED);
  const { SVC_TOKEN: _, ...rest } = env;
  const child = spawn(
    '/bin/sh',
    ['-c', SCRIPT, 'svc-agent-watchdog', String(process.pid), start, executable, supervised ? '0' : '1'],
    { detached: true, cwd: '/', env: rest, stdio: ['ignore', 'inherit', 'inherit'] },
  );
  child.on('error', () => {});
  child.unref();
  return child;
}

/** Field 22 of our own `/proc/<pid>/stat`, after the name in brackets. It stays the same across an exec. */
function startTicks(): string | undefined {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return undefined;
  }
}
