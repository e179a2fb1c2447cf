/** A real PgBouncer in front of a PostgreSQL server, on a port of 127.0.0.1. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ask } from '../harness/embedded-cluster.ts';
import { freePort } from '../harness/headgate.ts';
import { until } from '../harness/until.ts';

const PLACES = ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer', '/usr/local/bin/pgbouncer'];

/** Null where it is not installed. */
export const findPgBouncer = (): string | null => PLACES.find(existsSync) ?? null;

export async function startPgBouncer(
  serverUrl: string,
  mode: 'session' | 'transaction' | 'statement',
): Promise<{ url: string; stop(): Promise<void> }> {
  const program = findPgBouncer();
  if (program === null) throw new Error('PgBouncer is not installed');
  const server = new URL(serverUrl);
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'headgate-pgbouncer-'));
  chmodSync(folder, 0o755);
  const user = decodeURIComponent(server.username);
  writeFileSync(join(folder, 'users'), `"${user}" "${decodeURIComponent(server.password)}"\n`);
  writeFileSync(
    join(folder, 'ini'),
    `[databases]
* = host=${server.hostname} port=${server.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = plain
auth_file = ${join(folder, 'users')}
pool_mode = ${mode}
`,
  );
  // It refuses to run as root.
  const args = process.getuid?.() === 0 ? ['-q', '-u', 'nobody'] : ['-q'];
  const child = spawn(program, [...args, join(folder, 'ini')], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  const url = Object.assign(new URL(serverUrl), { hostname: '127.0.0.1', port: String(port) }).href;
  const answers = () =>
    ask(url, 'SELECT 1').then(
      () => true,
      () => false,
    );
  await until(answers, { what: 'PgBouncer to answer' });
  return {
    url,
    async stop() {
      child.kill('SIGKILL');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
