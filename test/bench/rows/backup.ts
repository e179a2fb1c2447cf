/** A backup of a large database by `headgate backup`, and its restore into an empty one: how fast, and how much memory. */
import { spawn } from 'node:child_process';
import { readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from '../../../controller/database/connect.ts';
import { writeAuditLog, writePeople } from '../audit-log.ts';
import { type BenchDatabase, makeDatabase } from '../database.ts';
import type { RowOptions } from '../options.ts';
import { megabytes, type Result, type Say, whole } from '../result.ts';

/** About a gigabyte of rows as they are in an archive. */
const EVENTS = 2_000_000;
/** The archive's size does not count: a few parts of 2 MiB do. */
const GOAL_MB = 400;
const POLL_MS = 100;
const HEADGATE = join(import.meta.dirname, '../../../bin/headgate');

export async function backup(say: Say, options: RowOptions): Promise<Result[]> {
  const events = options.rows ?? EVENTS;
  say(`backup: writing ${whole(events)} events …`);
  const source = await makeDatabase();
  try {
    await fill(source, events);
    const file = join(source.folder, 'backup.tar.gz');
    const made = await headgate(source, ['create', '--output', file, '--format', 'json']);
    const { bytes } = JSON.parse(made.output) as { bytes: number };
    say(`backup: restoring ${megabytes(bytes)} …`);
    const target = await makeDatabase();
    try {
      const restored = await headgate(target, ['restore', file, '--yes']);
      const size = statSync(file).size;
      return [
        resultOf(`a backup of ${megabytes(bytes)} of rows (${megabytes(size)} as a file)`, bytes, made),
        resultOf('its restore into an empty database', bytes, restored),
      ];
    } finally {
      await target.remove();
      rmSync(file, { force: true });
    }
  } finally {
    await source.remove();
  }
}

async function fill({ url }: BenchDatabase, events: number): Promise<void> {
  const db = connect(url, { poolSize: 1 });
  try {
    await writePeople(db);
    await writeAuditLog(db, events, () => {});
  } finally {
    await db.destroy();
  }
}

interface Ran {
  output: string;
  seconds: number;
  /** At its peak. */
  residentBytes: number;
}

const resultOf = (what: string, bytes: number, { seconds, residentBytes }: Ran): Result => ({
  what,
  goal: `below ${GOAL_MB} MB of memory`,
  measured: `${whole(seconds)} s, ${(bytes / 1024 ** 2 / seconds).toFixed(1)} MB/s; ${megabytes(residentBytes)} of memory`,
  ok: residentBytes < GOAL_MB * 1024 ** 2,
});

async function headgate({ url, folder }: BenchDatabase, args: readonly string[]): Promise<Ran> {
  const startedAt = performance.now();
  const child = spawn(HEADGATE, ['backup', ...args], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: {
      PATH: process.env.PATH ?? '',
      HEADGATE_DATABASE_URL: url,
      HEADGATE_DATA_DIR: join(folder, 'data'),
      HEADGATE_SECRET_KEY: '0123456789abcdef0123456789abcdef',
    },
  });
  let output = '';
  let residentBytes = 0;
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')));
  const timer = setInterval(() => {
    residentBytes = Math.max(residentBytes, peakOf(child.pid ?? 0));
  }, POLL_MS);
  const code = await new Promise((resolve) => child.once('close', resolve));
  clearInterval(timer);
  if (code !== 0) throw new Error(`headgate backup ${args[0]} ended with ${code}: ${output}`);
  return { output, seconds: (performance.now() - startedAt) / 1_000, residentBytes };
}

/** 0 once it has ended. */
function peakOf(pid: number): number {
  try {
    const [, kilobytes = '0'] = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return Number(kilobytes) * 1024;
  } catch {
    return 0;
  }
}
