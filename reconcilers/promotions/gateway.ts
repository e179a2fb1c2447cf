/** Reads and writes git for the operations of promotions. */
import type { ManifestRequest, PromotionGateway } from '../../controller/delivery/promotions/index.ts';
import { createKeyedMutex } from '../../controller/platform/runtime/keyed-mutex.ts';
import { fieldChanges } from '../plan-view/field-changes.ts';
import { createSourceCache, resolveRef } from '../source/index.ts';
import { inRepository, type RepositoryLocation } from '../write-back/commit/workspace.ts';
import { manifestText } from '../write-back/manifest/manifest-text.ts';
import { plainObject } from '../write-back/manifest/plain-object.ts';
import { baseOf } from '../write-back/propose/propose.ts';
import { draftManifest } from './manifest-draft.ts';
import { openPromotion, pushPromotion } from './push-promotion.ts';
import { readSource } from './read-source.ts';

const CACHE_LIMITS = { maxFiles: 5_000, maxScopes: 50 };

export function createPromotionGateway(): PromotionGateway {
  const cache = createSourceCache(CACHE_LIMITS);
  const mutex = createKeyedMutex();
  return {
    serialize: (promotionId, write) => mutex.runExclusive(promotionId, write),
    read: (ctx, source, target) => readSource(ctx, cache, source, target),
    compare(before, after) {
      const [plainBefore, plainAfter] = [
        before && plainObject(before, 'chosen'),
        plainObject(after, 'chosen'),
      ];
      return {
        before: plainBefore && manifestText(plainBefore),
        after: manifestText(plainAfter),
        fields: [
          ...fieldChanges(plainBefore?.spec ?? {}, plainAfter.spec),
          ...fieldChanges(
            { metadata: { labels: plainBefore?.labels ?? {} } },
            { metadata: { labels: plainAfter.labels } },
          ),
        ],
      };
    },
    preview: (ctx, target, request) =>
      inRepository(ctx, cache, target, async (repository) => {
        const { sha, base } = await resolvePreviewBase(repository, request);
        const { line: _, ...draft } = await draftManifest(repository, await repository.tip(sha), {
          ...request,
          base,
        });
        return draft;
      }),
    push: (ctx, target, promotion, base) => pushPromotion(ctx, cache, target, promotion, base),
    open: openPromotion,
  };
}

/** The branch of the waiting promotion if it exists, else the target's branch. */
async function resolvePreviewBase(repository: RepositoryLocation, { waiting, base }: ManifestRequest) {
  const target = await baseOf(repository);
  if (waiting?.branch && waiting.written) {
    const ref = `refs/heads/${waiting.branch}`;
    await repository.fetch(ref);
    const tip = await resolveRef(repository.repository, ref);
    if (tip !== null) return { sha: tip, base: waiting.written };
  }
  return { sha: target, base };
}
