/** What a promotion says of nodes that it did not wait for. */
import { expect } from 'chai';
import { describeSilentNodes } from '../../../reconcilers/promotions/merge-progress.ts';

describe('the note of nodes that were not waited for', () => {
  for (const [reason, names, count, says] of [
    ['nothing where all answer', [], 0, null],
    ['the one by its name', ['edge-2'], 1, 'Not waited for 1 node that does not answer: edge-2'],
    [
      'how many they are, and not how many names were given',
      Array.from({ length: 100 }, (_, n) => `n${n}`),
      5_000,
      'Not waited for 5000 nodes that do not answer: n0, n1, n2, n3, n4, n5, n6, n7, n8, n9, 4990 more',
    ],
  ] as const)
    it(`says ${reason}`, () => {
      expect(describeSilentNodes(names, count)).to.equal(says);
    });
});
