import { expect } from 'chai';
import type { PromotionRow } from '../../../controller/delivery/promotions/promotion-queries.ts';
import { presentPromotion } from '../../../controller/delivery/promotions/promotion-view.ts';
import type { Context } from '../../../controller/platform/operation/context.ts';

const ROW = {
  ...{ id: 'r1', status: 'DEPLOYED', pipelineId: 'p1', sourceVersion: 4, targetVersion: 2 },
  ...{ sourceEnvironmentId: 'staging', sourceTeamId: 'ours' },
  ...{ targetEnvironmentId: 'production', targetTeamId: 'theirs' },
  ...{ silentNodes: ['edge-2'], note: 'Not waited for 1 node that does not answer: edge-2' },
  pullNumber: null,
} as unknown as PromotionRow;
const keyOf = (environmentId: string) =>
  ({ actor: { type: 'service_account', environmentId } }) as unknown as Context;

describe('a promotion that named silent nodes', () => {
  it('names them to those who may enter the target alone', () => {
    expect(presentPromotion(keyOf('production'), ROW)).to.include({ note: ROW.note, sourceVersion: null });
    const outside = presentPromotion(keyOf('staging'), ROW);
    expect(outside).to.include({ sourceVersion: 4, targetVersion: null });
    expect(JSON.stringify(outside)).not.to.include('edge-2');
  });

  it('keeps the version of a source that is deleted for those who see the target', () => {
    const gone = { ...ROW, sourceEnvironmentId: null, sourceTeamId: null };
    expect(presentPromotion(keyOf('production'), gone)).to.include({ sourceVersion: 4, note: ROW.note });
    expect(presentPromotion(keyOf('staging'), gone)).to.include({ sourceVersion: null, targetVersion: null });
  });
});
