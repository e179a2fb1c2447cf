/**
 * The child that reads objects. It can do nothing but read: no configuration outside the repository, no hooks, no
 * replaced objects, no fetching of objects that a partial mirror left out.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { Socket } from 'node:net';
import { searchPath } from '../../../controller/platform/runtime/search-path.ts';

export type CatFile = ChildProcessWithoutNullStreams;

/** git streams blobs above this from disk instead of building them in its memory. */
const STREAM_ABOVE = '2m';

const ENVIRONMENT = {
  PATH: searchPath,
  LC_ALL: 'C',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_NO_LAZY_FETCH: '1',
  GIT_ALLOW_PROTOCOL: '',
  GIT_TERMINAL_PROMPT: '0',
  GIT_OPTIONAL_LOCKS: '0',
};

export function startCatFile(gitdir: string): CatFile {
  const settings = ['-c', `core.bigFileThreshold=${STREAM_ABOVE}`, '-c', 'core.fsmonitor=false'];
  return spawn('git', [...settings, `--git-dir=${gitdir}`, 'cat-file', '--batch'], {
    env: ENVIRONMENT,
    stdio: 'pipe',
  });
}

/** Whether this process lives on for the sake of the child. */
export function holdProcess(child: CatFile, hold: boolean): void {
  const streams = [child.stdin, child.stdout, child.stderr].filter((stream) => stream instanceof Socket);
  for (const part of [child, ...streams]) {
    if (hold) part.ref();
    else part.unref();
  }
}

/** Resolves once the child is gone. */
export function end(child: CatFile): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return resolve();
    child.once('exit', () => resolve());
    child.ref();
    child.stdin.end();
    child.kill('SIGKILL');
  });
}
