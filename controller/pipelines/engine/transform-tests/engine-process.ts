/** One run of an engine's `test`. */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { open, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { searchPath } from '../../../platform/runtime/search-path.ts';
import { isReady } from './engine-config.ts';
import { TEST_MS } from './test-case.ts';

/** Until the tests are under way. */
const START_MS = 10_000;
const OUTPUT_CHARS = 4 * 1024 * 1024;
/** 1 GiB of memory; and the kernel ends this process first where there is not even that. */
const BOUNDED = 'ulimit -d 1048576 2>/dev/null; exec "$0" "$@"';
const FIRST_TO_GO = '1000';

export interface TestRun {
  code: number | null;
  stdout: string;
  stderr: string;
  /** Ended because a test took too long. */
  late: boolean;
}

/** No secret is in its environment or its config. Each test has `TEST_MS`. Throws where the engine does not start. */
export async function runEngineTest(bin: string, config: string, signal?: AbortSignal): Promise<TestRun> {
  const input = await unnamedFile(config);
  try {
    const child = spawn('/bin/sh', ['-c', BOUNDED, bin, 'test', '--config-yaml', '/dev/stdin'], {
      env: { PATH: searchPath, VECTOR_DANGEROUSLY_ALLOW_ENV_VAR_INTERPOLATION: 'true', VECTOR_THREADS: '1' },
      stdio: [input.fd, 'pipe', 'pipe'],
      // A group of its own, so that nothing of it is left.
      detached: true,
    });
    const run: TestRun = { code: null, stdout: '', stderr: '', late: false };
    const kill = () => {
      if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
      try {
        process.kill(-child.pid, 'SIGKILL');
      } catch {
        // It has just ended.
      }
    };
    const tooLate = () => {
      run.late = true;
      kill();
    };
    let timer = setTimeout(tooLate, START_MS);
    child.stdout?.on('data', (chunk: Buffer) => {
      run.stdout += chunk.toString('utf8');
      if (run.stdout.length > OUTPUT_CHARS) kill();
      // A test ends with its line, and the next begins.
      clearTimeout(timer);
      timer = setTimeout(tooLate, isReady(run.stdout) ? TEST_MS : START_MS);
    });
    child.stderr?.on('data', (chunk: Buffer) => {
      if (run.stderr.length < OUTPUT_CHARS) run.stderr += chunk.toString('utf8');
    });
    signal?.addEventListener('abort', kill, { once: true });
    if (signal?.aborted) kill();
    if (child.pid !== undefined) {
      void writeFile(`/proc/${child.pid}/oom_score_adj`, FIRST_TO_GO).catch(() => {});
    }
    try {
      run.code = await new Promise<number | null>((resolve, reject) => {
        child.on('error', reject);
        child.on('close', resolve);
      });
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', kill);
    }
    signal?.throwIfAborted();
    return run;
  } finally {
    await input.close();
  }
}

/** An engine reads its config several times, which a pipe cannot give. The file has no name any more once it is written. */
async function unnamedFile(text: string) {
  const path = join(tmpdir(), `headgate-test-${randomBytes(12).toString('hex')}.yaml`);
  const file = await open(path, 'wx+', 0o600);
  try {
    await unlink(path);
    await file.writeFile(text);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}
