/** Reads the engines of an environment's nodes, for checks of pipelines. */
import type { Knex } from 'knex';
import type { ComponentNames } from '../../../schemas/agent/engine-components.ts';
import type { LabelMap } from '../../../schemas/api/common.ts';
import { effectiveLabels, listGroupRules } from '../groups/index.ts';
import { engineSupport } from './engine-support.ts';
import { listComponents, listNodeEngines } from './store.ts';

/** Checks ignore a node that has been silent for longer. */
const MAX_SILENT_MS = 24 * 3_600_000;

export interface NodeEngine {
  name: string;
  /** Effective labels, which selectors match. */
  labels: LabelMap;
  /** `0.57.0`, or the banner of another engine; null if unknown. */
  version: string | null;
  /** Entries such as `SOURCE kafka`; null if the node has not reported its types. */
  types: ReadonlySet<string> | null;
}

export async function readNodeEngines(db: Knex, environmentId: string, now: number): Promise<NodeEngine[]> {
  const lists = await listComponents(db, environmentId);
  // No agent here reports component types, so there is nothing to check against.
  if (lists.size === 0) return [];
  const rows = await listNodeEngines(db, environmentId, new Date(now - MAX_SILENT_MS));
  const groups = await listGroupRules(db, [environmentId]);
  const types = new Map([...lists].map(([digest, names]) => [digest, typesOf(names)]));
  return rows.map(({ name, agentLabels, uiLabels, engineVersion, digest }) => ({
    name,
    labels: effectiveLabels(agentLabels, uiLabels, groups),
    version: engineSupport(engineVersion).version ?? shortBanner(engineVersion),
    types: (digest === null ? undefined : types.get(digest)) ?? null,
  }));
}

const shortBanner = (banner: string | null): string | null =>
  banner?.split(' ').slice(0, 2).join(' ').slice(0, 60) || null;

const typesOf = ({ sources, transforms, sinks }: ComponentNames): Set<string> =>
  new Set([
    ...sources.map((type) => `SOURCE ${type}`),
    ...transforms.map((type) => `TRANSFORM ${type}`),
    ...sinks.map((type) => `SINK ${type}`),
  ]);
