/**
 * Runs a share of the sequences in a process of its own, which stays small: what it costs to start git grows with the
 * memory of the process that starts it. Told by one argument, answers with one line, both JSON.
 */
import fc from 'fast-check';
import { closeTestCluster } from '../../harness/postgres.ts';
import { ReconcileScene } from '../reconcile.ts';
import { replay } from './replay.ts';
import { sequence } from './sequence.ts';

export interface Share {
  sequences: number;
  seed: number;
  /** Of one sequence, as an earlier failure told it. */
  path: string | null;
  limitMs: number;
}

export interface ShareResult {
  ran: number;
  failed: boolean;
  /** What was broken, and how the smallest sequence that breaks it went; null where the time was up. */
  story: string | null;
  /** How to run the smallest sequence again. */
  seed: number;
  path: string | null;
}

async function run({ sequences, seed, path, limitMs }: Share): Promise<ShareResult> {
  const scene = await ReconcileScene.open();
  try {
    const found = await fc.check(
      fc.asyncProperty(sequence, async (steps) => replay(await scene.environment(), steps)),
      {
        numRuns: sequences,
        seed,
        ...(path === null ? {} : { path }),
        interruptAfterTimeLimit: limitMs,
        markInterruptAsFailure: true,
      },
    );
    return {
      ran: found.numRuns,
      failed: found.failed,
      story: found.errorInstance instanceof Error ? found.errorInstance.message : null,
      seed: found.seed,
      path: found.counterexamplePath,
    };
  } finally {
    await scene.close();
    await closeTestCluster();
  }
}

const share: Share = JSON.parse(process.argv[2] ?? '{}');
process.stdout.write(`${JSON.stringify(await run(share))}\n`);
