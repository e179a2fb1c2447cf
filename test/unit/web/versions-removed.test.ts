import { expect } from 'chai';
import { removedText } from '../../../web/src/features/pipeline/versions/removed-versions.ts';

const versions = (...numbers: number[]) => numbers.map((version) => ({ version }));

describe('what a list of versions says is missing', () => {
  for (const { reason, list, says } of [
    { reason: 'none yet', list: [], says: null },
    { reason: 'all that ever were', list: versions(3, 2, 1), says: null },
    { reason: 'the oldest is gone', list: versions(3, 2), says: /^1 older version was removed: / },
    {
      reason: 'some between are gone',
      list: versions(60, 59, 12, 3),
      says: /^56 older versions were removed: /,
    },
    {
      reason: 'more than are listed',
      list: versions(...Array.from({ length: 500 }, (_, n) => 700 - n)),
      says: /^The newest 500 versions are listed\.$/,
    },
    {
      reason: 'more than are listed, and some between are gone',
      list: versions(...Array.from({ length: 500 }, (_, n) => (n === 499 ? 100 : 700 - n))),
      says: /^The newest 500 versions are listed\. 101 older versions were removed: /,
    },
  ])
    it(`is told: ${reason}`, () => {
      const said = removedText(list);
      if (says === null) expect(said).to.equal(null);
      else expect(said).to.match(says);
    });
});
