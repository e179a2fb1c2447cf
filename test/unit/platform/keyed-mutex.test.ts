import { expect } from 'chai';
import { createKeyedMutex } from '../../../controller/platform/runtime/keyed-mutex.ts';

describe('the keyed mutex', () => {
  it('runs work of one key in order, after failures too, and of other keys at once', async () => {
    const mutex = createKeyedMutex();
    const order: string[] = [];
    let end = () => {};
    const first = mutex.runExclusive('a', () => new Promise<void>((resolve) => (end = resolve)));
    const failing = mutex.runExclusive('a', async () => {
      order.push('second');
      throw new Error('failed');
    });
    const third = mutex.runExclusive('a', async () => void order.push('third'));
    await mutex.runExclusive('b', async () => void order.push('other'));
    expect(order).to.deep.equal(['other']);
    end();
    await first;
    expect(await failing.catch((error: Error) => error.message)).to.equal('failed');
    await third;
    expect(order).to.deep.equal(['other', 'second', 'third']);
  });
});
