/** Runs the system's git to its end: within bounds of time, output and file size, and with nothing left of it. */
import { spawn } from 'node:child_process';

export interface GitProcessOptions {
  args: readonly string[];
  cwd: string;
  env: Record<string, string>;
  deadlineMs: number;
  input?: string | undefined;
}

export interface GitEnd {
  code: number | null;
  /** The signal that ended it. */
  by: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
  /** It was ended for its deadline. */
  late: boolean;
}

const OUTPUT_BYTES = 8 * 1024 * 1024;
const COMPLAINT_BYTES = 64 * 1024;
/** Of a file that git writes, a pack above all; in blocks of 512 bytes. */
const FILE_BLOCKS = (2 * 1024 ** 3) / 512;
/** git takes its locks away when it is asked to end. */
const ASKED_MS = 1_000;

/** No core, which would hold credentials, and no pack that fills the disk. Nothing that was given is read by the shell. */
const LIMITED = `ulimit -c 0; ulimit -f ${FILE_BLOCKS}; exec git "$@"`;

/** The signal ends it early. @throws Error where it cannot be started. */
export async function runProcess(ask: GitProcessOptions, signal: AbortSignal): Promise<GitEnd> {
  const child = spawn('/bin/sh', ['-c', LIMITED, 'git', ...ask.args], {
    cwd: ask.cwd,
    env: ask.env,
    stdio: ['pipe', 'pipe', 'pipe'],
    // A group of its own, so that ssh and git's helpers end with it.
    detached: true,
  });
  const kill = (how: NodeJS.Signals) => {
    if (child.pid === undefined) return;
    try {
      process.kill(-child.pid, how);
    } catch {
      // All of it has ended.
    }
  };
  let force: NodeJS.Timeout | undefined;
  const end = () => {
    kill('SIGTERM');
    force ??= setTimeout(() => kill('SIGKILL'), ASKED_MS);
  };
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    end();
  }, ask.deadlineMs);
  signal.addEventListener('abort', end, { once: true });
  // Out of file descriptors it has no pipes, and says why by the event below.
  const stdout = bounded(child.stdout, OUTPUT_BYTES, end);
  const stderr = bounded(child.stderr, COMPLAINT_BYTES);
  // It may end without reading on.
  child.stdin?.on('error', () => {});
  child.stdin?.end(ask.input ?? '');
  try {
    const { code, by } = await new Promise<{ code: number | null; by: NodeJS.Signals | null }>(
      (resolve, reject) => {
        child.on('error', reject);
        child.on('exit', () => kill('SIGTERM'));
        child.on('close', (exit, killed) => resolve({ code: exit, by: killed }));
      },
    );
    return { code, by, late, stdout: stdout(), stderr: stderr() };
  } finally {
    clearTimeout(timer);
    clearTimeout(force);
    kill('SIGKILL');
    signal.removeEventListener('abort', end);
  }
}

/** Of a stream what fits; `over` is called once it does not. */
function bounded(
  stream: NodeJS.ReadableStream | null | undefined,
  bytes: number,
  over?: () => void,
): () => string {
  const chunks: Buffer[] = [];
  let size = 0;
  stream?.on('data', (chunk: Buffer) => {
    if (size < bytes) chunks.push(chunk.subarray(0, bytes - size));
    size += chunk.length;
    if (size > bytes) over?.();
  });
  return () => Buffer.concat(chunks).toString('utf8');
}
