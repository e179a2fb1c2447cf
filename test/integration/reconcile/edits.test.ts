/** A few random edit sequences, the same each time; `test/long/edits.test.ts` runs more of them. */
import { expectPromisesKept, limitOf } from '../../support/scenes/random-edits/run.ts';

const SEQUENCES = 6;

describe('random edit sequences', () => {
  it(`end in what git says, with every history intact (${SEQUENCES} sequences)`, async function () {
    this.timeout(limitOf(SEQUENCES));
    await expectPromisesKept(SEQUENCES);
  });
});
