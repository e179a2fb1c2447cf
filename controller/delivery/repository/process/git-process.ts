/** Runs the system's git to its end, within limits of time, output and file size; no process outlives the call. */
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
  /** The signal that ended git. */
  by: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
  /** Git was ended after its deadline. */
  late: boolean;
}

const OUTPUT_BYTES = 8 * 1024 * 1024;
const COMPLAINT_BYTES = 64 * 1024;
/** The limit of a file that git writes, above all a pack; in blocks of 512 bytes. */
const FILE_BLOCKS = (2 * 1024 ** 3) / 512;
/** Time between SIGTERM and SIGKILL: git removes its lock files after SIGTERM. */
const TERMINATE_MS = 1_000;

/** No core dump, which would hold credentials, and no pack that fills the disk. The shell interprets none of the arguments. */
const LIMITED = `ulimit -c 0; ulimit -f ${FILE_BLOCKS}; exec git "$@"`;

/** The signal ends git early. @throws Error when git cannot be started */
export async function runProcess(ask: GitProcessOptions, signal: AbortSignal): Promise<GitEnd> {
  const child = spawn('/bin/sh', ['-c', LIMITED, 'git', ...ask.args], {
    cwd: ask.cwd,
    env: ask.env,
    stdio: ['pipe', 'pipe', 'pipe'],
    // A process group of its own, so that ssh and git's helpers end with it.
    detached: true,
  });
  const kill = (how: NodeJS.Signals) => {
    if (child.pid === undefined) return;
    try {
      process.kill(-child.pid, how);
    } catch {
      // The whole group has ended.
    }
  };
  let force: NodeJS.Timeout | undefined;
  const end = () => {
    kill('SIGTERM');
    force ??= setTimeout(() => kill('SIGKILL'), TERMINATE_MS);
  };
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    end();
  }, ask.deadlineMs);
  signal.addEventListener('abort', end, { once: true });
  // Without free file descriptors there are no pipes, and the `error` event below reports that.
  const stdout = bounded(child.stdout, OUTPUT_BYTES, end);
  const stderr = bounded(child.stderr, COMPLAINT_BYTES);
  // Git may end without reading its input.
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

/** Collects the output up to the limit, and calls `over` beyond it. */
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
