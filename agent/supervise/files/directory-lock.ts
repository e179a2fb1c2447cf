import { createHash } from 'node:crypto';
import { closeSync, openSync, readFileSync, realpathSync, writeSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { removeFile } from './atomic-files.ts';

export class LockedError extends Error {
  override name = 'LockedError';
}

/**
 * Holds a data directory for this process. On Linux by an abstract socket named after the directory's real path: it
 * goes with the process however that ends and leaves no file. Elsewhere by a file with our pid. Throws LockedError.
 */
export async function lockDirectory(root: string): Promise<() => void> {
  const real = realpathSync(root);
  if (process.platform === 'linux') return lockBySocket(real);
  return lockByFile(real);
}

function refusal(root: string): LockedError {
  return new LockedError(`another agent uses ${root}: stop it, or set SVC_DATA_DIR to a folder of its own`);
}

function lockBySocket(root: string): Promise<() => void> {
  const name = createHash('sha256').update(root).digest('hex');
  return new Promise((done, fail) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') return fail(refusal(root));
      // A sandbox may forbid such sockets.
      try {
        done(lockByFile(root));
      } catch (other) {
        fail(other);
      }
    });
    server.listen(`\0svc-agent-${name}`, () => done(() => server.close()));
  });
}

function lockByFile(root: string): () => void {
  const path = join(root, 'agent.lock');
  for (let attempt = 0; ; attempt += 1) {
    try {
      const handle = openSync(path, 'wx', 0o600);
      writeSync(handle, String(process.pid));
      closeSync(handle);
      return () => removeFile(path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      if (attempt > 0 || isAlive(Number(readFileSync(path, 'utf8')))) throw refusal(root);
      removeFile(path);
    }
  }
}

function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid < 1 || pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
