/** What the nodes of one environment should run: read from the database and rendered, whole. */
import type { Knex } from 'knex';
import { type DeployedConfig, listDeployed } from '../../pipelines/index.ts';
import type { Keyring } from '../../platform/crypto/keyring.ts';
import { messageOf } from '../../platform/operation/errors.ts';
import type { Bus } from '../../platform/runtime/bus.ts';
import type { Logger } from '../../platform/runtime/logger.ts';
import {
  type CertificateFile,
  certificateReferences,
  readCertificates,
} from '../../secrets/certificates/index.ts';
import { readSecrets } from '../../secrets/index.ts';
import { type GroupRule, listGroupRules } from '../groups/index.ts';
import type { KnownNode } from '../nodes/directory/node-directory.ts';
import { listPipelineIds, readConfigRevision } from '../nodes/store.ts';
import { DEFAULT_FLEET_SETTINGS, readFleetSettings } from '../settings/index.ts';
import type { Deployable, Reverted } from '../status/index.ts';
import type { ServedConfig } from './node-answer.ts';
import { type Rendered, render } from './render-pipeline.ts';
import {
  listReverts,
  listServedBefore,
  type RevertChanges,
  type RevertRow,
  writeRevertChanges,
} from './reverts/store.ts';

/** A pipeline: which node gets which version, and the renderings by version id. */
interface Served extends Deployable {
  renderings: ReadonlyMap<string, Rendered>;
  /** Reverts by node id: these nodes get a previous version. */
  reverted: ReadonlyMap<string, Reverted>;
}

export interface EnvironmentConfig {
  revision: number;
  secretBackend: string;
  pollIntervalMs: number;
  pipelines: Served[];
  /** At least one pipeline has two versions, for different nodes. */
  staged: boolean;
  groups: GroupRule[];
  /** Ids of the pipelines that a node of this environment may report. */
  pipelineIds: ReadonlySet<string>;
  loadedAt: number;
  /** Unique per load. */
  serial: number;
  /** By revision and selected versions: nodes with the same selection share the answer. */
  answers: Map<string, ServedConfig>;
  /** The last answer of each node; valid while the node's own revision is unchanged. */
  lastAnswers: WeakMap<KnownNode, { nodeRevision: number; served: ServedConfig }>;
}

/** What a load reads from and writes to. */
export interface Sources {
  db: Knex;
  bus: Bus;
  keyring: Keyring;
  log: Logger;
}

/** `before`: what was served until now. `serial`: of this load, unlike every other's. Null where the environment was deleted. */
export async function loadEnvironment(
  sources: Sources,
  environmentId: string,
  { before, serial }: { before: EnvironmentConfig | null; serial: number },
): Promise<EnvironmentConfig | null> {
  const { db, keyring, log } = sources;
  const environment = await readConfigRevision(db, environmentId);
  if (!environment) return null;
  // Reverts are read before the deployed versions: otherwise the revert of a version deployed in between would count as ended.
  const reverts = await listReverts(db, environmentId);
  const earlier = await listServedBefore(db, [...new Set(reverts.map((row) => row.servedVersionId))]);
  const [deployed, groups, ids, settings] = await Promise.all([
    listDeployed(db, environmentId),
    listGroupRules(db, [environmentId]),
    listPipelineIds(db, environmentId),
    readFleetSettings(db),
  ]);
  const secrets = await readSecrets(db, keyring, environmentId);
  const filenames = new Set(
    [...deployed, ...earlier].flatMap(({ configYaml }) => certificateReferences(configYaml)),
  );
  const certificates = await readCertificates(db, keyring, environmentId, [...filenames]);
  // The environment may have been deleted during these reads. Then the lists are empty and would stop every engine.
  if (!(await readConfigRevision(db, environmentId))) return null;
  const rendered = renderAll(deployed, secrets, certificates, { before, log });
  const faults = new Map<string, string>();
  for (const config of earlier) {
    if (rendered.has(config.versionId)) continue;
    try {
      rendered.set(config.versionId, render(config, secrets, certificates));
    } catch (error) {
      faults.set(config.versionId, messageOf(error));
    }
  }
  const { active, changes } = classifyReverts(reverts, deployed, rendered, faults);
  if (changes.ended.length + changes.carried.length + changes.faults.length > 0)
    recordRevertChanges(sources, environmentId, changes);
  return {
    revision: environment.revision,
    secretBackend: environment.secretBackend,
    pollIntervalMs: settings.pollIntervalMs || DEFAULT_FLEET_SETTINGS.pollIntervalMs,
    pipelines: toServed(deployed, rendered, active),
    staged: active.length > 0 || deployed.some(({ isCanary }) => isCanary),
    groups,
    pipelineIds: new Set(ids),
    loadedAt: performance.now(),
    serial,
    answers: new Map(),
    lastAnswers: new WeakMap(),
  };
}

/** A pipeline that cannot be rendered keeps its own last good rendering; the others get their new one. */
function renderAll(
  deployed: readonly DeployedConfig[],
  secrets: ReadonlyMap<string, () => string>,
  certificates: ReadonlyMap<string, CertificateFile>,
  { before, log }: { before: EnvironmentConfig | null; log: Logger },
): Map<string, Rendered> {
  const rendered = deployed.map((config): [string, Rendered] => {
    try {
      return [config.versionId, render(config, secrets, certificates)];
    } catch (error) {
      const lastGood = findLastGood(config, before);
      if (!lastGood) throw error;
      log.error(
        { pipelineId: config.pipelineId, reason: messageOf(error) },
        'a pipeline could not be rendered; its last good rendering is served',
      );
      return [config.versionId, lastGood];
    }
  });
  return new Map(rendered);
}

/** Runs in the background. A lost write is repeated, since the next rendering finds the same changes. */
function recordRevertChanges({ db, bus, log }: Sources, environmentId: string, changes: RevertChanges): void {
  writeRevertChanges(db, changes)
    .then(() => bus.publish(db, { type: 'ui', environmentId, topics: ['fleet', 'pipelines'] }))
    .catch((error: unknown) =>
      log.warn(
        { environmentId, reason: messageOf(error) },
        'changes of reverts were not recorded; the next rendering retries',
      ),
    );
}

/** Groups the deployed versions by pipeline and decides which nodes get which. The result keeps the order of pipelines. */
function toServed(
  deployed: readonly DeployedConfig[],
  rendered: ReadonlyMap<string, Rendered>,
  reverts: readonly RevertRow[],
): Served[] {
  return [...Map.groupBy(deployed, ({ pipelineId }) => pipelineId).values()].map((versions): Served => {
    const all = versions.find(({ isCanary }) => !isCanary) ?? null;
    const canary = versions.find(({ isCanary }) => isCanary) ?? null;
    // The selector of the rendering that is sent: a last good rendering goes to the nodes that it went to before.
    const reverted = reverts.filter(({ pipelineId }) => pipelineId === versions[0]?.pipelineId);
    const selectorOf = (one: DeployedConfig) => (rendered.get(one.versionId)?.config ?? one).nodeSelector;
    return {
      isDraft: false,
      deployedVersionId: all?.versionId ?? null,
      deployedSelector: all && selectorOf(all),
      rollout: canary && {
        versionId: canary.versionId,
        nodeSelector: selectorOf(canary),
        canarySelector: canary.canarySelector ?? {},
      },
      renderings: new Map(
        [
          ...versions.map(({ versionId }) => versionId),
          ...reverted.map(({ servedVersionId }) => servedVersionId),
        ].flatMap((versionId) => {
          const one = rendered.get(versionId);
          return one ? [[versionId, one] as const] : [];
        }),
      ),
      reverted: new Map(reverted.map((row) => [row.nodeId, row])),
    };
  });
}

/**
 * Decides which reverts are active: the node should run exactly the text that it refused, and the previous version can be
 * rendered.
 */
function classifyReverts(
  reverts: readonly RevertRow[],
  deployed: readonly DeployedConfig[],
  rendered: ReadonlyMap<string, Rendered>,
  faults: ReadonlyMap<string, string>,
): { active: RevertRow[]; changes: RevertChanges } {
  const active: RevertRow[] = [];
  const changes: RevertChanges = { ended: [], carried: [], faults: [] };
  const isRefused = (row: RevertRow, { versionId }: DeployedConfig) => {
    const one = rendered.get(versionId);
    // The checksum of a last good rendering belongs to another version, so the version ids are compared.
    if (one && one.config.versionId !== versionId) return versionId === row.refusedVersionId;
    return one?.checksum === row.refusedChecksum;
  };
  for (const row of reverts) {
    const refused = deployed.filter(
      (config) => config.pipelineId === row.pipelineId && isRefused(row, config),
    );
    const target = refused.find(({ versionId }) => versionId === row.refusedVersionId) ?? refused[0];
    if (!target) {
      changes.ended.push(row);
      continue;
    }
    const fault = faults.get(row.servedVersionId) ?? null;
    if (fault !== row.fault) changes.faults.push({ row, fault });
    if (target.versionId !== row.refusedVersionId)
      changes.carried.push({ row, refusedVersionId: target.versionId });
    if (fault === null) active.push({ ...row, refusedVersionId: target.versionId });
  }
  return { active, changes };
}

/**
 * The rendering of the same version, or else the one that all nodes got of this pipeline. A rendering for canary nodes alone is
 * never given to others.
 */
function findLastGood(config: DeployedConfig, before: EnvironmentConfig | null): Rendered | undefined {
  const all = before?.pipelines.flatMap(({ renderings }) => [...renderings.values()]) ?? [];
  return (
    all.find((rendering) => rendering.config.versionId === config.versionId) ??
    all.find((rendering) => rendering.config.pipelineId === config.pipelineId && !rendering.config.isCanary)
  );
}
