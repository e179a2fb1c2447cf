/**
 * Many random edit sequences. `HEADGATE_TEST_SEED=random HEADGATE_TEST_SEQUENCES=1000` looks for new ones that fail.
 */
import { expectPromisesKept, limitOf } from '../support/scenes/random-edits/run.ts';

const SEQUENCES = Number(process.env.HEADGATE_TEST_SEQUENCES ?? 200);

describe('many random edit sequences', () => {
  it(`end in what git says, with every history intact (${SEQUENCES} sequences)`, async function () {
    this.timeout(limitOf(SEQUENCES));
    await expectPromisesKept(SEQUENCES);
  });
});
