import { createHash } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Lets one process at a time launch a postmaster on a cluster; null while another one does. Postgres' own lock file is not
 * enough: two that find the file of a killed postmaster at the same moment may each remove the other's new one. The kernel
 * lets go when the holder dies. Linux only; elsewhere it is granted to everybody.
 */
export async function tryLaunchLock(cluster: string): Promise<(() => void) | null> {
  if (process.platform !== 'linux') return () => undefined;
  const name = createHash('sha256').update(cluster).digest('hex').slice(0, 32);
  const server = createServer((socket) => socket.destroy());
  return new Promise((resolve) => {
    server.once('error', () => resolve(null));
    server.listen(`\0headgate-postgres-${name}`, () => {
      server.unref();
      resolve(() => void server.close());
    });
  });
}
