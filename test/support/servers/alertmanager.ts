/** A real Alertmanager. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../harness/headgate.ts';
import { until } from '../harness/until.ts';

/** Null where it is not installed. */
export const findAlertmanager = (): string | null =>
  ['/usr/bin', '/usr/local/bin']
    .flatMap((folder) => [`${folder}/prometheus-alertmanager`, `${folder}/alertmanager`])
    .find(existsSync) ?? null;

export interface AlertmanagerAlert {
  labels: Record<string, string>;
  annotations: Record<string, string>;
  startsAt: string;
  endsAt: string;
  generatorURL: string;
  status: { state: string };
}

export interface Alertmanager {
  url: string;
  /** Those that fire. */
  alerts(): Promise<AlertmanagerAlert[]>;
  stop(): Promise<void>;
}

export async function startAlertmanager(): Promise<Alertmanager> {
  const program = findAlertmanager();
  if (program === null) throw new Error('Alertmanager is not installed');
  const folder = mkdtempSync(join(tmpdir(), 'headgate-alertmanager-'));
  const config = join(folder, 'config.yml');
  writeFileSync(config, 'route:\n  receiver: nobody\nreceivers:\n  - name: nobody\n');
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const child = spawn(
    program,
    [
      `--config.file=${config}`,
      `--storage.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      // One by itself.
      '--cluster.listen-address=',
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let output = '';
  child.stderr.on('data', (chunk: Buffer) => {
    output = `${output}${chunk}`.slice(-4_000);
  });
  const ended = once(child, 'exit');
  const answers = () =>
    fetch(`${url}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  await until(answers, { what: () => `Alertmanager to answer: ${output}`, timeoutMs: 30_000 });
  return {
    url,
    alerts: async () => (await (await fetch(`${url}/api/v2/alerts`)).json()) as AlertmanagerAlert[],
    async stop() {
      child.kill('SIGKILL');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
