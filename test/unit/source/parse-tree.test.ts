import { expect } from 'chai';
import fc from 'fast-check';
import { parseTree } from '../../../reconcilers/source/git/parse-tree.ts';

type Entry = readonly [name: string, id: number];

function treeOf(entries: readonly Entry[]): Buffer {
  return Buffer.concat(
    entries.flatMap(([name, id]) => [Buffer.from(`100644 ${name}\0`), Buffer.alloc(20, id)]),
  );
}

const MANY: Entry[] = Array.from({ length: 3000 }, (_, index) => [`service-${index}.yaml`, index % 250]);

describe('Reading a tree', () => {
  it('takes over what another version of it had', () => {
    const first = parseTree(treeOf(MANY), 20);
    const changed = MANY.with(1200, ['service-1200.yaml', 255]);
    const second = parseTree(treeOf(changed), 20, first);
    expect(second).to.deep.equal(parseTree(treeOf(changed), 20));
    const others = second.entries.flatMap((entry, index) => (entry === first.entries[index] ? [] : [index]));
    expect(others).to.deep.equal([1200]);
  });

  it('gives what reading all of it gives, whatever the other version was', () => {
    const edit = fc.record({
      at: fc.nat(400),
      remove: fc.nat(3),
      // Zeros, spaces and mode digits look like the borders of entries.
      add: fc.array(
        fc.tuple(
          fc.string({ unit: fc.constantFrom('a', '1', '0 ', ' 4'), minLength: 1 }),
          fc.constantFrom(0, 32, 48, 49, 7),
        ),
        { maxLength: 3 },
      ),
    });
    fc.assert(
      fc.property(fc.nat(400), fc.array(edit, { maxLength: 3 }), (length, edits) => {
        let entries: Entry[] = Array.from({ length }, (_, index) => ['a'.repeat(1 + (index % 3)), index % 2]);
        let before = parseTree(treeOf(entries), 20);
        for (const { at, remove, add } of edits) {
          entries = entries.toSpliced(at, remove, ...add);
          const whole = parseTree(treeOf(entries), 20);
          before = parseTree(treeOf(entries), 20, before);
          expect(before).to.deep.equal(whole);
        }
      }),
    );
  });

  it('refuses a damaged one', () => {
    const data = treeOf(MANY);
    expect(() => parseTree(data.subarray(0, -3), 20, parseTree(data, 20))).to.throw(RangeError);
  });
});
