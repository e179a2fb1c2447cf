import { expect } from 'chai';
import { applyPatch } from 'diff';
import fc from 'fast-check';
import { unifiedDiff } from '../../../controller/pipelines/versions/unified-diff.ts';
import { cpuMs, patient } from '../../support/harness/patience.ts';

const lines = (count: number, step: number) =>
  Array.from({ length: count }, (_, i) => `line ${(i * step) % 99_991}`);
const text = (...parts: string[][]) => `${parts.flat().join('\n')}\n`;

describe('the difference of two configs', () => {
  it('is nothing where they are equal', () => {
    expect(unifiedDiff('a', 'b', 'x\n', 'x\n')).to.equal('');
  });

  it('leads from the one to the other, whatever they are', () => {
    const config = fc.array(fc.constantFrom('a', 'b', 'c', '', '  d: 1'), { maxLength: 30 });
    fc.assert(
      fc.property(config, config, (before, after) => {
        const patch = unifiedDiff('a', 'b', text(before), text(after));
        if (patch !== '') expect(applyPatch(text(before), patch)).to.equal(text(after));
      }),
    );
  });

  it('does so in a short time where nearly everything is another', () => {
    const [head, tail] = [lines(10, 3), lines(10, 5)];
    const before = text(head, lines(40_000, 7_919), tail);
    const after = text(head, lines(40_000, 7_927).reverse(), tail);
    const begin = cpuMs();
    const patch = unifiedDiff('a', 'b', before, after);
    expect(cpuMs() - begin).to.be.below(patient(3_000));
    expect(patch).to.match(/^=+\n--- a\n\+\+\+ b\n@@ -8,/);
    expect(applyPatch(before, patch)).to.equal(after);
  });
});
