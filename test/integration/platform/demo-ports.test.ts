import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { expect } from 'chai';
import { readDemoConfig } from '../../../controller/config.ts';
import { enginePortBases } from '../../../controller/demo/free-ports.ts';

describe('the ports of the engines of make run', () => {
  it('are counted from SVC_PORT_BASE where it is set, taken or not', async () => {
    expect(readDemoConfig({ PATH: '/', SVC_PORT_BASE: '28688' }).portBase).to.equal(28_688);
    expect(readDemoConfig({ PATH: '/' }).portBase).to.equal(null);
    expect(await enginePortBases(28_688, 3)).to.deep.equal([28_688, 28_788, 28_888]);
  });

  it('are in ranges that begin free where it is not set', async () => {
    const { holder, port } = await heldInFirstRange();
    try {
      const [first = 0, second = 0] = await enginePortBases(null, 2);
      expect(second - first).to.be.at.least(100);
      for (const base of [first, second]) expect(port - base, `${base}`).to.not.be.within(0, 19);
    } finally {
      holder.close();
    }
  });
});

/** A listener on the third port of the range that would be given first, as an engine of another one has it. */
async function heldInFirstRange(): Promise<{ holder: Server; port: number }> {
  for (let attempt = 0; attempt < 20; attempt += 1) {
    const port = ((await enginePortBases(null, 1))[0] ?? 0) + 2;
    const holder = createServer().listen(port, '127.0.0.1');
    // Somebody else may have taken it meanwhile.
    const isHeld = await once(holder, 'listening').then(
      () => true,
      () => false,
    );
    if (isHeld) return { holder, port };
  }
  throw new Error('no port could be held');
}
