import { expect } from 'chai';
import { BoundedMap } from '../../../controller/platform/runtime/bounded-map.ts';

describe('A bounded map', () => {
  it('forgets what was not used for longest', () => {
    const map = new BoundedMap<number>(2);
    map.set('a', 1);
    map.set('b', 2);
    map.get('a');
    map.set('c', 3);
    expect([map.get('a'), map.get('b'), map.get('c'), map.size]).to.deep.equal([1, undefined, 3, 2]);
  });

  it('counts weights, once for each key, and keeps the newest whatever it weighs', () => {
    const map = new BoundedMap<number>(10);
    map.set('a', 1, 6);
    map.set('a', 2, 6);
    map.set('b', 3, 4);
    expect(map.size).to.equal(2);
    map.set('c', 4, 50);
    expect([map.size, map.get('c')]).to.deep.equal([1, 4]);
    map.set('d', 5, 1);
    expect([map.size, map.get('d')]).to.deep.equal([1, 5]);
  });
});
