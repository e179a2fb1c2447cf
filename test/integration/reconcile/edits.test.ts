/**
 * Random edit sequences against the real reconciler, git and Postgres. A failure prints the value of
 * HEADGATE_TEST_SEED that replays it. Without one the same sixty are run each time, so that nobody's change fails for
 * another's fault; `HEADGATE_TEST_SEED=random HEADGATE_TEST_SEQUENCES=1000` looks for new ones.
 */
import { execFile } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { PATIENCE } from '../../support/harness/patience.ts';
import type { Share, ShareResult } from '../../support/scenes/random-edits/shard.ts';

const SEQUENCES = Number(process.env.HEADGATE_TEST_SEQUENCES ?? 60);
const USUAL_SEED = 20_000;
const SHARES = 2;
/** A failure is made smaller for at least this long. */
const SHRINKING_MS = 60_000;
const SHARD = fileURLToPath(new URL('../../support/scenes/random-edits/shard.ts', import.meta.url));

/** `<seed>` replays all, `<seed>:<path>` the one sequence that failed. */
function shares(): Share[] {
  const [given, ...path] = process.env.HEADGATE_TEST_SEED?.split(':') ?? [];
  const seed = given === 'random' ? randomInt(2 ** 31) : Number(given ?? USUAL_SEED);
  const limitMs = (SEQUENCES * 1_000 + SHRINKING_MS) * PATIENCE;
  if (path.length > 0) return [{ sequences: 1, seed, path: path.join(':'), limitMs }];
  const sequences = Math.ceil(SEQUENCES / SHARES);
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

describe('random edit sequences', () => {
  it(`end in what git says, with every history intact (${SEQUENCES} sequences)`, async function () {
    this.timeout(SEQUENCES * 1_000 + SHRINKING_MS + 40_000);
    const results = await Promise.all(shares().map(run));
    const broken = results.filter(({ failed }) => failed);
    const told = broken.map(({ ran, story, seed, path }) => {
      const again = path === null ? `${seed}` : `${seed}:${path}`;
      return `after ${ran} sequences: ${story ?? 'the time was up'}\n\nReplay: HEADGATE_TEST_SEED=${again} mocha test/integration/reconcile/edits.test.ts`;
    });
    expect(told.join('\n\n'), 'broken promises').to.equal('');
  });
});
