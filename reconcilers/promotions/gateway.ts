/** What the operations of promotions ask of git. */
import type { ManifestRequest, PromotionGateway } from '../../controller/delivery/promotions/index.ts';
import { fieldChanges } from '../plan-view/field-changes.ts';
import { createSourceCache, resolveRef } from '../source/index.ts';
import { inRepository, type RepositoryLocation } from '../write-back/commit/workspace.ts';
import { manifestText } from '../write-back/manifest/manifest-text.ts';
import { plainObject } from '../write-back/manifest/plain-object.ts';
import { baseOf } from '../write-back/propose/propose.ts';
import { draftOn } from './draft.ts';
import { openPromotion, pushPromotion } from './propose.ts';
import { readSource } from './read-source.ts';

const CACHED = { maxFiles: 5_000, maxScopes: 50 };

export function createPromotionGateway(): PromotionGateway {
  const cache = createSourceCache(CACHED);
  return {
    read: (ctx, source, target) => readSource(ctx, cache, source, target),
    compare(before, after) {
      const [old, made] = [before && plainObject(before, 'chosen'), plainObject(after, 'chosen')];
      return {
        before: old && manifestText(old),
        after: manifestText(made),
        fields: [
          ...fieldChanges(old?.spec ?? {}, made.spec),
          ...fieldChanges({ metadata: { labels: old?.labels ?? {} } }, { metadata: { labels: made.labels } }),
        ],
      };
    },
    preview: (ctx, target, wanted) =>
      inRepository(ctx, cache, target, async (place) => {
        const { sha, base } = await goneOnFrom(place, wanted);
        const { line: _, ...draft } = await draftOn(place, await place.tip(sha), { ...wanted, base });
        return draft;
      }),
    push: (ctx, target, promotion, base) => pushPromotion(ctx, cache, target, promotion, base),
    open: openPromotion,
  };
}

/** The branch of one that waits, where it is there; else the target's own. */
async function goneOnFrom(place: RepositoryLocation, { waiting, base }: ManifestRequest) {
  const target = await baseOf(place);
  if (waiting?.branch && waiting.written) {
    const ref = `refs/heads/${waiting.branch}`;
    await place.fetch(ref);
    const tip = await resolveRef(place.repository, ref);
    if (tip !== null) return { sha: tip, base: waiting.written };
  }
  return { sha: target, base };
}
