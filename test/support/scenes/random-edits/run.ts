/**
 * Random edit sequences against the real reconciler, git and Postgres, by two processes side by side. A failure prints the
 * value of HEADGATE_TEST_SEED that replays it. Without one the same sequences run each time, so that nobody's change fails
 * for another's fault.
 */
import { execFile } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { PATIENCE } from '../../harness/patience.ts';
import type { Share, ShareResult } from './shard.ts';

const USUAL_SEED = 20_000;
const SHARES = 2;
/** A failure is made smaller for at least this long. */
const SHRINKING_MS = 60_000;
const SHARD = fileURLToPath(new URL('./shard.ts', import.meta.url));

/** `<seed>` replays all, `<seed>:<path>` the one sequence that failed. */
function shares(wanted: number): Share[] {
  const [given, ...path] = process.env.HEADGATE_TEST_SEED?.split(':') ?? [];
  const seed = given === 'random' ? randomInt(2 ** 31) : Number(given ?? USUAL_SEED);
  const limitMs = (wanted * 1_000 + SHRINKING_MS) * PATIENCE;
  if (path.length > 0) return [{ sequences: 1, seed, path: path.join(':'), limitMs }];
  const sequences = Math.ceil(wanted / SHARES);
  return Array.from({ length: SHARES }, (_, n) => ({ sequences, seed: seed + n, path: null, limitMs }));
}

async function run(share: Share): Promise<ShareResult> {
  const { stdout } = await promisify(execFile)(process.execPath, [SHARD, JSON.stringify(share)], {
    timeout: share.limitMs + 30_000,
    killSignal: 'SIGKILL',
    maxBuffer: 4 * 1024 * 1024,
  });
  return JSON.parse(stdout);
}

/** How long a case with so many sequences may take. */
export const limitOf = (sequences: number) => sequences * 1_000 + SHRINKING_MS + 40_000;

/** Fails where a sequence ends in anything but what git says, or with a broken history. */
export async function expectPromisesKept(sequences: number): Promise<void> {
  const results = await Promise.all(shares(sequences).map(run));
  const broken = results.filter(({ failed }) => failed);
  const told = broken.map(({ ran, story, seed, path }) => {
    const again = path === null ? `${seed}` : `${seed}:${path}`;
    return `after ${ran} sequences: ${story ?? 'the time was up'}\n\nReplay: HEADGATE_TEST_SEED=${again} mocha test/long/edits.test.ts`;
  });
  expect(told.join('\n\n'), 'broken promises').to.equal('');
}
