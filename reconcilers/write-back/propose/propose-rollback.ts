/** What a pipeline was rolled back to, as a proposal: the held spec of git gives way to it once it is merged. */
import {
  findObject,
  type PlainManifest,
  type RolledBack,
  type WrittenProposal,
} from '../../../controller/delivery/bindings/index.ts';
import { notFound } from '../../../controller/platform/operation/errors.ts';
import type { RepositoryLocation } from '../commit/workspace.ts';
import { plainObject, plainOfManifest } from '../manifest/plain-object.ts';
import { manifestOf } from '../manifest/rewrite.ts';
import { baseOf, propose } from './propose.ts';

/** What of a manifest a version holds. */
const OF_VERSION = [
  'sources',
  'transforms',
  'sinks',
  'global',
  'components',
  'logLevel',
  'drainSeconds',
  'nodeSelector',
];

/** @throws NOT_FOUND; what `propose` throws */
export async function proposeRollback(
  place: RepositoryLocation,
  { pipelineId, reason }: RolledBack,
): Promise<WrittenProposal> {
  const object = await findObject(place.ctx.db, 'Pipeline', pipelineId);
  if (!object) throw notFound('Pipeline');
  const runs = plainObject(object);
  const before = plainOfManifest(manifestOf(await place.tip(await baseOf(place)), runs));
  const change = { objectId: pipelineId, operation: 'pipeline.rollback', before, after: as(before, runs) };
  return propose(place, change, { overHeld: true, reason });
}

function as(before: PlainManifest, runs: PlainManifest): PlainManifest {
  const spec = { ...before.spec };
  for (const field of OF_VERSION) {
    if (runs.spec[field] === undefined) delete spec[field];
    else spec[field] = runs.spec[field];
  }
  return { ...before, spec };
}
