/**
 * What alert rules of a plan would have done in the last days. It depends on what was recorded and not on git, so it is no
 * part of the plan's hash, and whatever is not known in time is left out.
 */
import type { Binding } from '../../controller/delivery/bindings/index.ts';
import { previewRule } from '../../controller/insight/alerts/index.ts';
import type { Context } from '../../controller/platform/operation/context.ts';
import { messageOf } from '../../controller/platform/operation/errors.ts';
import type { ChangePreview } from '../../schemas/api/delivery/git-plan.ts';
import { nameKeyOf } from '../../schemas/manifests/index.ts';
import type { Computed } from '../git/plan/compute-plan.ts';
import { type Applying, applies, type Change, objectIdOf } from '../git/plan/plan.ts';
import { identity } from '../git/read/identity.ts';
import type { DesiredManifest } from '../source/index.ts';
import { unlessAborted } from './unless-aborted.ts';

/** Each reads a week of minutes. */
const MAX_PREVIEWS = 20;

export interface PreviewOptions {
  ctx: Context;
  binding: Pick<Binding, 'environmentId'>;
  computed: Computed;
  /** For all of them together. */
  previewMs: number;
}

export async function previewRules(
  { ctx, binding, computed, previewMs }: PreviewOptions,
  changes: readonly Applying[],
): Promise<ReadonlyMap<Change, ChangePreview>> {
  const rules = changes.filter(({ manifest }) => manifest.kind === 'AlertRule' && specOf(manifest).enabled);
  const found = new Map<Change, ChangePreview>();
  if (rules.length === 0) return found;
  const signal = AbortSignal.any([ctx.signal, AbortSignal.timeout(previewMs)]);
  for (const change of rules.slice(0, MAX_PREVIEWS)) {
    const { pipelineRef, metric, condition, threshold, durationSeconds } = specOf(change.manifest);
    const pipelineId = pipelineRef === undefined ? undefined : pipelineIdOf(computed, pipelineRef);
    // A pipeline that the plan creates has done nothing yet.
    if (pipelineId === null) continue;
    const rule = { metric, condition, threshold, durationSeconds, ...(pipelineId ? { pipelineId } : {}) };
    try {
      const { firings, subjects, firingNow, series, note } = await unlessAborted(signal, () =>
        previewRule(ctx, binding.environmentId, rule),
      );
      found.set(change, { metric, firings, subjects, firingNow, series, note });
    } catch (error) {
      // A slow or broken metrics store takes nothing away but this; the next rule would wait for it too.
      ctx.log.warn(
        { environmentId: binding.environmentId, rule: change.manifest.name, reason: messageOf(error) },
        'what an alert rule would have done is not known',
      );
      break;
    }
  }
  return found;
}

const specOf = (manifest: DesiredManifest) => (manifest as DesiredManifest<'AlertRule'>).spec;

/** The pipeline that has the name once the plan is applied; null for one that it creates. */
function pipelineIdOf({ plan, observed }: Computed, name: string): string | null {
  const nameKey = nameKeyOf(name);
  const planned = plan.changes.find(
    (change): change is Applying =>
      applies(change) && change.manifest.kind === 'Pipeline' && change.manifest.nameKey === nameKey,
  );
  if (planned) return objectIdOf(planned);
  const recorded = observed.inventory.get(identity('Pipeline', nameKey))?.objectId;
  const byUi = () => observed.ui.find((object) => object.kind === 'Pipeline' && object.nameKey === nameKey);
  return recorded ?? byUi()?.id ?? null;
}
