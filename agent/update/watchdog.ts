import { type ChildProcess, spawn } from 'node:child_process';
import { LIMITS } from '../limits.ts';
import { startOf } from '../supervise/engine/orphaned-engines.ts';

/** What the version before then tells. Without a poll it knows of no pipeline, so that taking it back stops none. */
const NEVER_POLLED = 'the new version had no successful poll';

/**
 * Looks after a process that has just become a new version, by its pid and its start, until it has confirmed the update
 * or its patience in seconds is over. When it ends before that, or has not confirmed by then, the old executable is put
 * back, and started where nobody else starts agents. In plain shell, since it must not depend on either version. An
 * agent that ends in order takes `.pending` away first.
 */
const SCRIPT = `
pid=$1 start=$2 exe=$3 restart=$4 patience=$5
alive() {
  { read -r line < "/proc/$pid/stat"; } 2>/dev/null || return 1
  set -- \${line##*) }
  [ "$1" != Z ] && [ "$1" != X ] && [ "\${20}" = "$start" ]
}
end() {
  kill -TERM "$pid" 2>/dev/null
  n=0
  while alive && [ "$n" -lt 45 ]; do sleep 1; n=$((n + 1)); done
  if alive; then kill -KILL "$pid"; fi
}
short=0 waited=0
while alive; do
  [ -e "$exe.pending" ] || exit 0
  [ "$waited" -lt "$patience" ] || break
  if [ "$short" -lt 60 ] && sleep 0.5 2>/dev/null; then
    short=$((short + 1)) waited=$((short / 2))
  else
    sleep 1
    waited=$((waited + 1))
  fi
done
[ -e "$exe.pending" ] && [ -e "$exe.previous" ] || exit 0
if alive; then
  why='${NEVER_POLLED}'
  { head -n 3 "$exe.pending"; echo "$why within $((patience / 60)) minutes"; } > "$exe.failed"
  rm -f "$exe.pending"
  mv -f "$exe.previous" "$exe" || exit 1
  end
else
  why='the new version ended before its first poll'
  mv -f "$exe.pending" "$exe.failed"
  mv -f "$exe.previous" "$exe" || exit 1
fi
[ "$restart" = 1 ] || exit 0
echo "$why; the old one is back" >&2
exec "$exe"
`;

export interface Watched {
  pid: number;
  /** Of `startOf`; it stays the same across an exec. */
  start: string;
  executable: string;
  /** False where a service manager starts agents. */
  restart: boolean;
  patienceMs: number;
}

export function watch(watched: Watched, env: NodeJS.ProcessEnv): ChildProcess {
  const { pid, start, executable, restart, patienceMs } = watched;
  const words = [String(pid), start, executable, restart ? '1' : '0', String(Math.round(patienceMs / 1_000))];
  const child = spawn('/bin/sh', ['-c', SCRIPT, 'svc-agent-watchdog', ...words], {
    detached: true,
    cwd: '/',
    env,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  child.on('error', () => {});
  child.unref();
  return child;
}

/** Null where there is no /proc. The enrollment token does not go along: the node token is on disk. */
export function startWatchdog(
  executable: string,
  env: Readonly<Record<string, string | undefined>>,
): ChildProcess | null {
  const start = startOf(process.pid);
  if (start === undefined) return null;
  // A service manager starts agents itself, and ends this process with the group of the old one.
  const supervised = Boolean(env.INVOCATION_ID || env.SVC_SUPERVISED);
  const { SVC_TOKEN: _, ...rest } = env;
  const { pid } = process;
  const watched = { pid, start, executable, restart: !supervised, patienceMs: LIMITS.updateConfirmMs };
  return watch(watched, rest);
}
