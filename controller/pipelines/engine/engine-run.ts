/** One run of an engine executable that reads its standard input to the end and prints what it thinks. */
import { spawn } from 'node:child_process';
import { searchPath } from '../../platform/runtime/search-path.ts';

const DEADLINE_MS = 10_000;
const OUTPUT_BYTES = 256 * 1024;

export interface EngineRun {
  /** Hands the text over and waits for the end, for at most 10 seconds. */
  finish(input: string, signal?: AbortSignal): Promise<{ code: number | null; output: string }>;
  ended(): boolean;
  /** Ends one that is not needed. */
  abandon(): void;
}

/** No secret is in its environment, and nothing of the controller's own. */
export function startEngine(bin: string, args: readonly string[], cwd?: string): EngineRun {
  // What Node calls a pipe is a socket, which cannot be opened as /dev/stdin. The shell makes a pipe.
  const child = spawn('/bin/sh', ['-c', 'cat | exec "$0" "$@"', bin, ...args], {
    env: { PATH: searchPath, VECTOR_DANGEROUSLY_ALLOW_ENV_VAR_INTERPOLATION: 'true' },
    stdio: ['pipe', 'pipe', 'pipe'],
    ...(cwd !== undefined && { cwd }),
    // A group of its own, so that none of the three is left.
    detached: true,
  });
  let output = '';
  let failure: Error | null = null;
  const collect = (chunk: Buffer) => {
    if (output.length < OUTPUT_BYTES) output += chunk.toString('utf8');
  };
  // Out of file descriptors it has no pipes, and says why by the event below.
  child.stdout?.on('data', collect);
  child.stderr?.on('data', collect);
  // It may end without reading on.
  child.stdin?.on('error', () => {});
  const closed = new Promise<number | null>((resolve) => {
    child.on('error', (error) => {
      failure = error;
      resolve(null);
    });
    child.on('close', resolve);
  });
  const ended = () => child.exitCode !== null || child.signalCode !== null || failure !== null;
  const kill = () => {
    if (ended() || child.pid === undefined) return;
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch {
      // It has just ended.
    }
  };
  return {
    async finish(input, signal) {
      const late = setTimeout(kill, DEADLINE_MS);
      signal?.addEventListener('abort', kill, { once: true });
      if (signal?.aborted) kill();
      try {
        child.stdin?.end(input);
        const code = await closed;
        if (failure) throw failure;
        signal?.throwIfAborted();
        return { code, output };
      } finally {
        clearTimeout(late);
        signal?.removeEventListener('abort', kill);
      }
    },
    ended,
    abandon: kill,
  };
}
