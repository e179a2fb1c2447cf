import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { LineSplitter } from '../../report/line-splitter.ts';

export interface EngineCommand {
  executable: string;
  args: string[];
  env: Record<string, string>;
  cwd: string;
  /** Bytes that are kept of one line of its output; as for logs where this is left out. */
  stdoutLineBytes?: number;
}

export interface EngineExit {
  code: number | null;
  signal: string | null;
}

export interface EngineHandlers {
  onLine: (line: string, cut: boolean, from: 'stdout' | 'stderr') => void;
  onExit: (exit: EngineExit) => void;
  /** It has ended, and all that it wrote was read. */
  onClose?: () => void;
  /** The process could not be made; no exit follows. */
  onError: (error: Error) => void;
}

export interface EngineProcess {
  pid: number;
  /** Signals the engine and all that it forked. False when nobody is left. */
  signal(signal: 'SIGTERM' | 'SIGKILL'): boolean;
}

const SHELL = '/bin/sh';

/**
 * Starts an engine in a process group of its own. The shell turns core files off, since a core would hold the secrets,
 * and then becomes the engine under the same pid. Undefined when no process could be made; `onError` says why.
 */
export function startEngine(command: EngineCommand, handlers: EngineHandlers): EngineProcess | undefined {
  const { executable, args, env, cwd } = command;
  const [file, argv] = existsSync(SHELL)
    ? [SHELL, ['-c', 'ulimit -c 0; exec "$0" "$@"', executable, ...args]]
    : [executable, args];
  const child = spawn(file, argv, { env, cwd, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let ended = false;
  child.once('error', (error) => {
    if (!ended && child.pid === undefined) handlers.onError(error);
    ended = true;
  });
  child.once('exit', (code, signal) => {
    if (!ended) handlers.onExit({ code, signal });
    ended = true;
  });
  if (handlers.onClose) child.once('close', handlers.onClose);
  for (const from of ['stdout', 'stderr'] as const) {
    const stream = child[from];
    const lineBytes = from === 'stdout' ? command.stdoutLineBytes : undefined;
    const splitter = new LineSplitter((line, cut) => handlers.onLine(line, cut, from), lineBytes);
    stream?.on('data', (chunk: Buffer) => splitter.push(chunk));
    stream?.on('end', () => splitter.end());
    stream?.on('error', () => {});
  }
  const pid = child.pid;
  if (pid === undefined) return undefined;
  return { pid, signal: (signal) => signalGroup(pid, signal) };
}

/** The group's id is the pid of the engine that leads it; the system keeps it taken while a member lives. */
export function signalGroup(pid: number, signal: 'SIGTERM' | 'SIGKILL'): boolean {
  try {
    process.kill(-pid, signal);
    return true;
  } catch {
    return false;
  }
}
