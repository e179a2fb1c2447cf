import { expect } from 'chai';
import { createBodyCache } from '../../../controller/fleet/config/body-cache.ts';

describe('config answers in memory', () => {
  const text = (bytes: number) => 'x'.repeat(bytes);

  it('are made once while they are held', () => {
    const cache = createBodyCache(100);
    let made = 0;
    const get = (key: string) =>
      cache.get(key, () => {
        made += 1;
        return `text of ${key}`;
      });
    expect([get('a'), get('a'), get('b')]).to.deep.equal(['text of a', 'text of a', 'text of b']);
    expect(made).to.equal(2);
  });

  it('stay within the bytes, without those that were not asked for the longest', () => {
    const cache = createBodyCache(100);
    for (const key of ['a', 'b', 'c']) cache.get(key, () => text(30));
    cache.get('a', () => expect.fail('it is held'));
    cache.get('d', () => text(30));
    expect(cache.bytes()).to.equal(90);
    cache.get('a', () => expect.fail('it was asked for after b'));
    let made = false;
    cache.get('b', () => {
      made = true;
      return text(30);
    });
    expect(made).to.equal(true);
  });

  it('count bytes and not characters', () => {
    const cache = createBodyCache(100);
    cache.get('a', () => 'ü'.repeat(40));
    expect(cache.bytes()).to.equal(80);
  });

  it('are answered, and not held, where one alone is too large', () => {
    const cache = createBodyCache(100);
    expect(cache.get('a', () => text(1_000))).to.have.length(1_000);
    expect([cache.size(), cache.bytes()]).to.deep.equal([0, 0]);
  });
});
