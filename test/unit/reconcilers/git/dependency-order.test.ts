import { expect } from 'chai';
import fc from 'fast-check';
import { type DependencyNode, orderOf } from '../../../../reconcilers/git/plan/dependency-order.ts';

/** Whether a way leads from the key back to it, found without the code under test. */
function isInCircle(key: string, dependenciesOf: (key: string) => readonly string[]): boolean {
  const reached = new Set(dependenciesOf(key));
  for (const at of reached) for (const next of dependenciesOf(at)) reached.add(next);
  return reached.has(key);
}

const KEYS = Array.from({ length: 9 }, (_, index) => `p${index}`);
const nodes = fc
  .tuple(
    ...KEYS.map((key) =>
      fc.record({
        key: fc.constant(key),
        wanted: fc.option(fc.subarray(KEYS, { maxLength: 3 }), { freq: 4 }),
        current: fc.subarray(KEYS, { maxLength: 2 }),
      }),
    ),
  )
  .map((all): DependencyNode[] => all);

describe('the order of dependencies', () => {
  it('is there for all that is not refused, and refuses nothing without a circle', () => {
    fc.assert(
      fc.property(nodes, (all) => {
        const { order, circles } = orderOf(all);
        const wanting = all.filter(({ wanted }) => wanted !== null).map(({ key }) => key);
        expect([...order, ...circles.keys()].sort(), 'each is ordered or refused, never both').to.deep.equal(
          wanting.sort(),
        );
        const byKey = new Map(all.map((node) => [node.key, node]));
        const after = (key: string) => {
          const node = byKey.get(key);
          return (order.includes(key) ? node?.wanted : node?.current) ?? [];
        };
        for (const [index, key] of order.entries()) {
          expect(isInCircle(key, after), `${key} is in no circle`).to.equal(false);
          for (const needed of after(key))
            if (order.includes(needed)) expect(order.indexOf(needed)).to.be.lessThan(index);
        }
        for (const [key, circle] of circles) {
          expect(circle, 'begins with the one that is refused').to.include(key);
          for (const [index, member] of circle.entries()) {
            const { wanted, current } = byKey.get(member) as DependencyNode;
            expect([...(wanted ?? []), ...current]).to.include(circle[(index + 1) % circle.length]);
          }
        }
        const wish = (key: string) => byKey.get(key)?.wanted ?? byKey.get(key)?.current ?? [];
        if (!KEYS.some((key) => isInCircle(key, wish))) expect(circles.size).to.equal(0);
      }),
      { numRuns: 2_000 },
    );
  });

  it('refuses what would close a circle over one that is refused and stays as it was', () => {
    const { order, circles } = orderOf([
      { key: 'a', wanted: ['b'], current: ['c'] },
      { key: 'b', wanted: ['a'], current: [] },
      { key: 'c', wanted: ['a'], current: [] },
      { key: 'd', wanted: [], current: [] },
    ]);
    expect(order).to.deep.equal(['d']);
    expect(circles.get('c')).to.deep.equal(['c', 'a']);
  });

  it('allows that two trade places', () => {
    const { order } = orderOf([
      { key: 'a', wanted: [], current: ['b'] },
      { key: 'b', wanted: ['a'], current: [] },
    ]);
    expect(order).to.deep.equal(['a', 'b']);
  });

  it('comes to an end where each round closes the next circle', () => {
    // Refusing one leaves it as it was, which closes a circle with the one after it.
    const count = 200;
    const all: DependencyNode[] = Array.from({ length: count }, (_, index) => ({
      key: `p${index}`,
      wanted: index === 0 ? ['p0'] : [`p${index - 1}`],
      current: [`p${index + 1}`],
    }));
    const { order, circles } = orderOf(all);
    expect(order).to.deep.equal([]);
    expect(circles.size).to.equal(count);
  });

  it('follows chains of any length', () => {
    const count = 20_000;
    const chain: DependencyNode[] = Array.from({ length: count }, (_, index) => ({
      key: `p${index}`,
      wanted: index + 1 < count ? [`p${index + 1}`] : [],
      current: [],
    }));
    const { order } = orderOf(chain);
    expect(order[0]).to.equal(`p${count - 1}`);
    expect(order).to.have.length(count);
  });
});
