/** Data directories with an embedded cluster of their own, to be started, shared and broken. */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../../controller/database/embedded/embedded-postgres.ts';
import { memoryFolder } from '../fixtures/memory-folder.ts';
import { until } from './until.ts';

const program = join(import.meta.dirname, 'join-embedded-postgres.ts');

/** A folder that Postgres' own user may pass through, where root runs the tests. */
export function clusterFolder(): string {
  const folder = mkdtempSync(join(memoryFolder(), 'headgate-cluster-'));
  chmodSync(folder, 0o711);
  return folder;
}

/** A made cluster to copy from: most of a first start is making it. */
export async function clusterSeed(): Promise<{ copyTo(dataDir: string): void; remove(): Promise<void> }> {
  const seed = clusterFolder();
  await (await startEmbeddedPostgres({ dataDir: seed, log: () => undefined })).stop();
  return {
    copyTo: (dataDir) =>
      void execFileSync('cp', ['-a', join(seed, 'postgres'), join(seed, 'postgres-password'), dataDir]),
    remove: () => rm(seed, { recursive: true, force: true }),
  };
}

/** The pid in the postmaster's own file; throws where there is none, since a signal to 0 would be one to ourselves. */
export function postmasterPid(dataDir: string): number {
  const pid = Number(readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n')[0]);
  if (!(pid > 1)) throw new Error('postmaster.pid holds no pid');
  return pid;
}

/** Postmasters of the data directory. What one has just forked still looks like it, and is none. */
export function postmastersOf(dataDir: string): number[] {
  const { stdout } = spawnSync('ps', ['-eww', '-o', 'pid=,ppid=,stat=,command='], { encoding: 'utf8' });
  const found = stdout.split('\n').flatMap((line) => {
    const [, pid, parent, state] = /^\s*(\d+)\s+(\d+)\s+(\S)/.exec(line) ?? [];
    return line.includes(`-D ${dataDir}`) && state !== 'Z'
      ? [{ pid: Number(pid), parent: Number(parent) }]
      : [];
  });
  const pids = new Set(found.map(({ pid }) => pid));
  return found.filter(({ parent }) => !pids.has(parent)).map(({ pid }) => pid);
}

/** A postmaster and all that it has started. */
export function processesBelow(pid: number): number[] {
  const { stdout } = spawnSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' });
  return [pid, ...stdout.split('\n').filter(Boolean).map(Number)];
}

/** The first row of the answer, on a connection of its own. */
export async function ask(url: string, sql: string): Promise<Record<string, unknown> | undefined> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 2_000,
    query_timeout: 5_000,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.query<Record<string, unknown>>(sql)).rows[0];
  } finally {
    await client.end().catch(() => undefined);
  }
}

export async function untilAnswers(url: string, timeoutMs = 10_000): Promise<void> {
  const answers = () =>
    ask(url, 'select 1').then(
      () => true,
      () => false,
    );
  await until(answers, { what: 'PostgreSQL to answer', timeoutMs, everyMs: 20 });
}

export interface Member {
  url: string;
  pid: number;
  /** What it has logged. */
  log(): string;
  /** Sends the signal, SIGTERM where none is given, and waits for the end. Answers the exit code. */
  end(signal?: NodeJS.Signals): Promise<number | null>;
}

/** A process of its own that uses the embedded cluster. */
export async function startMember(dataDir: string): Promise<Member> {
  const child = spawn(process.execPath, [program, dataDir], { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines: string[] = [];
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const gone = () => child.exitCode !== null || child.signalCode !== null;
  createInterface(child.stdout).on('line', (line) => lines.push(line));
  const urlLine = () => lines.find((line) => line.startsWith('{"url"'));
  await until(() => urlLine() !== undefined || gone(), { what: 'a member to start', timeoutMs: 30_000 });
  const { url } = JSON.parse(urlLine() ?? '{}') as { url?: string };
  if (url === undefined) throw new Error(`A member did not start:\n${lines.join('\n')}`);
  return {
    url,
    pid: child.pid ?? 0,
    log: () => lines.filter((line) => line !== urlLine()).join('\n'),
    async end(signal = 'SIGTERM') {
      if (!gone()) child.kill(signal);
      await ended;
      return child.exitCode;
    },
  };
}
