import { expect } from 'chai';
import type { Binding } from '../../../controller/delivery/bindings/index.ts';
import type { PullRequestRecord } from '../../../controller/delivery/pull-requests/index.ts';
import type { Context } from '../../../controller/platform/operation/context.ts';
import { ForgeError } from '../../../reconcilers/forges/forge.ts';
import { createPullRequestGateway } from '../../../reconcilers/pull-requests/gateway.ts';
import { MemoryForge } from '../../support/servers/memory-forge.ts';

const COMMENT = { marker: '<!-- closed -->', body: 'Its source was deleted. <!-- closed -->' };
const comment = (forge: MemoryForge) =>
  createPullRequestGateway({ forges: { of: () => forge } }).comment(
    {} as Context,
    {} as Binding,
    { forge: 'github', number: 3 } as PullRequestRecord,
    COMMENT,
  );

describe('a comment on a pull request of a forge', () => {
  it('is one, however often it is written', async () => {
    const forge = new MemoryForge();
    for (let time = 0; time < 2; time += 1) await comment(forge);
    expect(forge.commentsOn(3)).to.deep.equal([COMMENT.body]);
  });

  it('is tried again where the forge is away, and not where it refuses', async () => {
    for (const [fault, code] of [
      ['unavailable', 'UNAVAILABLE'],
      ['refused', 'PRECONDITION_FAILED'],
    ] as const) {
      const forge = new MemoryForge();
      forge.before = () => {
        throw new ForgeError(fault, 'no');
      };
      const error = await comment(forge).catch((thrown: unknown) => thrown);
      expect(error).to.deep.include({ code });
    }
  });
});
