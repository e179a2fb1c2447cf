/**
 * What a node is served. Rendered once per change of its environment and kept in memory; per node only the selection is
 * made. A deployed pipeline is never left out because something failed here: the last good rendering is served, or
 * nothing at all (UNAVAILABLE), which leaves agents as they are. Absence means undeploy.
 */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Knex } from 'knex';
import type { CertFile, PipelineEntry } from '../../../schemas/agent/protocol.ts';
import { type DeployedConfig, listDeployed, servedYaml } from '../../pipelines/index.ts';
import type { Keyring } from '../../platform/crypto/keyring.ts';
import { messageOf, unavailable } from '../../platform/operation/errors.ts';
import type { Bus } from '../../platform/runtime/bus.ts';
import type { Logger } from '../../platform/runtime/logger.ts';
import {
  type CertificateFile,
  certificateReferences,
  readCertificates,
} from '../../secrets/certificates/index.ts';
import {
  escapeForVrl,
  readSecrets,
  secretReferences,
  vrlReferences,
  vrlVariable,
} from '../../secrets/index.ts';
import { effectiveLabels, type GroupRule, listGroupRules } from '../groups/index.ts';
import type { KnownNode } from '../nodes/directory/node-directory.ts';
import { listPipelineIds, readConfigRevision } from '../nodes/store.ts';
import { DEFAULT_FLEET_SETTINGS, readFleetSettings } from '../settings/index.ts';
import { afterRevert, type Deployable, type Reverted, versionForNode } from '../status/index.ts';
import { type BodyCache, createBodyCache } from './body-cache.ts';
import {
  listReverts,
  listServedBefore,
  type RevertChanges,
  type RevertRow,
  writeRevertChanges,
} from './reverts/store.ts';

export interface ServedConfig {
  etag: string;
  /** JSON, ready to send. */
  body: string;
  revision: number;
}

interface Rendered {
  config: DeployedConfig;
  json: string;
  checksum: string;
}

/** A pipeline: who gets which version, and the versions rendered, by their ids. */
interface Served extends Deployable {
  renderings: ReadonlyMap<string, Rendered>;
  /** By node: who gets the version before. */
  reverted: ReadonlyMap<string, Reverted>;
}

interface EnvironmentConfig {
  revision: number;
  secretBackend: string;
  pollIntervalMs: number;
  pipelines: Served[];
  /** Of some pipeline there are two versions, for different nodes. */
  staged: boolean;
  groups: GroupRule[];
  /** Every pipeline that a node of this environment may report. */
  known: ReadonlySet<string>;
  loadedAt: number;
  /** Another one for each reading. */
  serial: number;
  /** By revision and the pipelines that a node gets: nodes with the same ones share the answer. */
  answers: Map<string, ServedConfig>;
  /** What each node was last served; it holds while the node's own revision is that of then. */
  answered: WeakMap<KnownNode, { nodeRevision: number; served: ServedConfig }>;
}

interface Slot {
  current: EnvironmentConfig | null;
  /** Signals that had come when `current` was begun to be read, and that have come until now. */
  has: number;
  wants: number;
  /** What is being read; the last good one once patience is at its end. */
  loading: Promise<EnvironmentConfig> | null;
  failedAt: number;
}

/** Signals may be lost; this long a rendering is believed without asking. Then it is served while it is read anew. */
const BELIEVED_MS = 30_000;
/** After a signal the new one is waited for, but not for longer: a database that hangs must not keep a fleet waiting. */
const PATIENCE_MS = 1_500;
/** What cannot be read is not asked for again before that. */
const RETRY_MS = 1_000;
/** Answers that are held ready, over all environments. What they are made from is held beside them, once. */
const BODIES_BYTES = 64 * 1024 * 1024;
/** Of one environment, without their texts. */
const MAX_ANSWERS = 1_000;

export interface ConfigServer {
  forNode(node: KnownNode): Promise<ServedConfig>;
  revisionFor(node: KnownNode): Promise<number>;
  /** Every pipeline that a node of the environment may report. */
  knownPipelines(environmentId: string): Promise<ReadonlySet<string>>;
  /** Of each version that nodes get, by its id. */
  checksums(environmentId: string): Promise<ReadonlyMap<string, string>>;
  /** Entries in memory, for diagnostics. */
  sizes(): { environments: number; bodies: number; bodyBytes: number };
}

const gone = () => unavailable('the environment is gone');

export function createConfigServer(options: {
  db: Knex;
  bus: Bus;
  keyring: Keyring;
  log: Logger;
  pushUrl: string | null;
}): ConfigServer {
  const { db, keyring, log } = options;
  const slots = new Map<string, Slot>();
  const bodies = createBodyCache(BODIES_BYTES);
  let serial = 0;
  const push = options.pushUrl ? `,"pushUrl":${JSON.stringify(options.pushUrl)}` : '';

  options.bus.on('config', ({ environmentId }) => {
    const slot = slots.get(environmentId);
    if (slot) slot.wants += 1;
  });
  options.bus.on('reverts', ({ environmentId }) => {
    const slot = slots.get(environmentId);
    if (slot) slot.wants += 1;
  });
  options.bus.on('environment', ({ environmentId }) => slots.delete(environmentId));
  const allWant = () => {
    for (const slot of slots.values()) slot.wants += 1;
  };
  options.bus.on('fleet', allWant);
  options.bus.on('resync', allWant);

  /** A pipeline that cannot be rendered keeps its own last good rendering, and the others move on. */
  function renderAll(
    deployed: readonly DeployedConfig[],
    secrets: ReadonlyMap<string, () => string>,
    certificates: ReadonlyMap<string, CertificateFile>,
    before: EnvironmentConfig | null,
  ): Map<string, Rendered> {
    const rendered = deployed.map((config): [string, Rendered] => {
      try {
        return [config.versionId, render(config, secrets, certificates)];
      } catch (error) {
        const lastGood = lastGoodOf(config, before);
        if (!lastGood) throw error;
        log.error(
          { pipelineId: config.pipelineId, reason: messageOf(error) },
          'a pipeline was not rendered, its last good rendering is served',
        );
        return [config.versionId, lastGood];
      }
    });
    return new Map(rendered);
  }

  /** Nobody waits for it, and it is found again with the next rendering. */
  function noteNews(environmentId: string, news: RevertChanges): void {
    writeRevertChanges(db, news)
      .then(() => options.bus.publish(db, { type: 'ui', environmentId, topics: ['fleet', 'pipelines'] }))
      .catch((error: unknown) =>
        log.warn({ environmentId, reason: messageOf(error) }, 'what became of reverts was not noted'),
      );
  }

  async function load(environmentId: string, before: EnvironmentConfig | null): Promise<EnvironmentConfig> {
    const environment = await readConfigRevision(db, environmentId);
    if (!environment) {
      // Nothing else would let go of what is asked for after it was deleted.
      if (!before) slots.delete(environmentId);
      throw gone();
    }
    // Before what is deployed: of a version that is deployed meanwhile there is none yet, and none is taken for over.
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
    // It may have been deleted in the middle of this: then the lists are empty, and would stop every engine.
    if (!(await readConfigRevision(db, environmentId))) throw gone();
    const rendered = renderAll(deployed, secrets, certificates, before);
    const faults = new Map<string, string>();
    for (const config of earlier) {
      if (rendered.has(config.versionId)) continue;
      try {
        rendered.set(config.versionId, render(config, secrets, certificates));
      } catch (error) {
        faults.set(config.versionId, messageOf(error));
      }
    }
    const { inForce, news } = sortReverts(reverts, deployed, rendered, faults);
    if (news.over.length + news.carried.length + news.faults.length > 0) noteNews(environmentId, news);
    return {
      revision: environment.revision,
      secretBackend: environment.secretBackend,
      pollIntervalMs: settings.pollIntervalMs || DEFAULT_FLEET_SETTINGS.pollIntervalMs,
      pipelines: servedOf(deployed, rendered, inForce),
      staged: inForce.length > 0 || deployed.some(({ isCanary }) => isCanary),
      groups,
      known: new Set(ids),
      loadedAt: performance.now(),
      serial: ++serial,
      answers: new Map(),
      answered: new WeakMap(),
    };
  }

  async function get(environmentId: string): Promise<EnvironmentConfig> {
    let slot = slots.get(environmentId);
    if (!slot) {
      slot = { current: null, has: -1, wants: 0, loading: null, failedAt: Number.NEGATIVE_INFINITY };
      slots.set(environmentId, slot);
    }
    const { wants } = slot;
    const waits = () => !slot.loading && performance.now() - slot.failedAt >= RETRY_MS;
    for (;;) {
      const { current } = slot;
      if (current && slot.has >= wants) {
        if (performance.now() - current.loadedAt >= BELIEVED_MS && waits()) read(environmentId, slot);
        return current;
      }
      if (waits() || (!current && !slot.loading)) read(environmentId, slot);
      const soon = slot.loading ? await slot.loading : current;
      // The last good one: reading has failed, or takes too long.
      if (soon && soon === current) return soon;
    }
  }

  function read(environmentId: string, slot: Slot): void {
    const { current, wants } = slot;
    const loading = load(environmentId, current)
      .then((loaded) => {
        slot.current = loaded;
        slot.has = wants;
        return loaded;
      })
      .catch((error: unknown) => {
        slot.failedAt = performance.now();
        if (!current) throw unavailable('the configuration cannot be read at the moment');
        log.error(
          { environmentId, reason: messageOf(error) },
          'config not rendered, serving the last good one',
        );
        return current;
      })
      .finally(() => {
        slot.loading = null;
      });
    slot.loading = current ? Promise.race([loading, sleep(PATIENCE_MS, current, { ref: false })]) : loading;
    // Read ahead, nobody waits for it.
    slot.loading.catch(() => {});
  }

  return {
    async forNode(node) {
      const environment = await get(node.environmentId);
      const last = environment.answered.get(node);
      if (last?.nodeRevision === node.revision) return last.served;
      const served = answerOf(environment, node, push, bodies);
      environment.answered.set(node, { nodeRevision: node.revision, served });
      return served;
    },
    sizes: () => ({ environments: slots.size, bodies: bodies.size(), bodyBytes: bodies.bytes() }),
    async revisionFor(node) {
      return (await get(node.environmentId)).revision + node.revision;
    },
    async knownPipelines(environmentId) {
      return (await get(environmentId)).known;
    },
    async checksums(environmentId) {
      const { pipelines } = await get(environmentId);
      return new Map(
        pipelines.flatMap(({ renderings }) =>
          [...renderings].map(([versionId, { checksum }]) => [versionId, checksum] as const),
        ),
      );
    },
  };
}

/** Who gets which version. Versions of a pipeline stand next to each other. */
function servedOf(
  deployed: readonly DeployedConfig[],
  rendered: ReadonlyMap<string, Rendered>,
  reverts: readonly RevertRow[],
): Served[] {
  return [...Map.groupBy(deployed, ({ pipelineId }) => pipelineId).values()].map((versions): Served => {
    const all = versions.find(({ isCanary }) => !isCanary) ?? null;
    const canary = versions.find(({ isCanary }) => isCanary) ?? null;
    // Of what is sent: the last good rendering goes where it went.
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

/** Which reverts hold: nodes that should run the very text that was refused there, with the version before to be had. */
function sortReverts(
  reverts: readonly RevertRow[],
  deployed: readonly DeployedConfig[],
  rendered: ReadonlyMap<string, Rendered>,
  faults: ReadonlyMap<string, string>,
): { inForce: RevertRow[]; news: RevertChanges } {
  const inForce: RevertRow[] = [];
  const news: RevertChanges = { over: [], carried: [], faults: [] };
  const isRefused = (row: RevertRow, { versionId }: DeployedConfig) => {
    const one = rendered.get(versionId);
    // A last good rendering tells nothing of what was refused.
    if (one && one.config.versionId !== versionId) return versionId === row.refusedVersionId;
    return one?.checksum === row.refusedChecksum;
  };
  for (const row of reverts) {
    const refused = deployed.filter((one) => one.pipelineId === row.pipelineId && isRefused(row, one));
    const target = refused.find(({ versionId }) => versionId === row.refusedVersionId) ?? refused[0];
    if (!target) {
      news.over.push(row);
      continue;
    }
    const fault = faults.get(row.servedVersionId) ?? null;
    if (fault !== row.fault) news.faults.push({ row, fault });
    if (target.versionId !== row.refusedVersionId)
      news.carried.push({ row, refusedVersionId: target.versionId });
    if (fault === null) inForce.push({ ...row, refusedVersionId: target.versionId });
  }
  return { inForce, news };
}

/** Of the same version, else what nodes got of the pipeline; what canary nodes alone got, nobody else gets for that. */
function lastGoodOf(config: DeployedConfig, before: EnvironmentConfig | null): Rendered | undefined {
  const all = before?.pipelines.flatMap(({ renderings }) => [...renderings.values()]) ?? [];
  return (
    all.find((one) => one.config.versionId === config.versionId) ??
    all.find((one) => one.config.pipelineId === config.pipelineId && !one.config.isCanary)
  );
}

function answerOf(
  environment: EnvironmentConfig,
  node: KnownNode,
  push: string,
  bodies: BodyCache,
): ServedConfig {
  const target = {
    labels: effectiveLabels(node.agentLabels, node.uiLabels, environment.groups),
    maintenance: node.maintenance,
  };
  const chosen = environment.pipelines.flatMap((pipeline) => {
    const versionId = versionForNode(pipeline, target);
    if (versionId === null) return [];
    const served = afterRevert(versionId, pipeline.reverted.get(node.nodeId));
    return pipeline.renderings.get(served) ?? [];
  });
  const revision = environment.revision + node.revision;
  const asked = askedOf(node);
  const body = () =>
    `{"pipelines":[${chosen.map((one) => one.json).join()}],"pollIntervalMs":${environment.pollIntervalMs},` +
    `"secretBackend":${JSON.stringify(environment.secretBackend)},${asked},"configRevision":${revision}${push}}`;
  const etagOf = () => `${revision}-${environment.pollIntervalMs}-${hashOf(chosen)}`;
  if (asked !== NOTHING_ASKED) {
    const hash = createHash('sha256').update(asked).digest('hex').slice(0, 12);
    // Put together when it is sent, and not kept: a fleet that is updated would hold a text a node.
    return {
      etag: `"${etagOf()}-${hash}"`,
      revision,
      get body() {
        return body();
      },
    };
  }
  // With two versions of one pipeline, all pipelines are not one text.
  const isAll = !environment.staged && chosen.length === environment.pipelines.length;
  const key = `${revision} ${isAll ? '*' : chosen.map((one) => one.config.versionId).join()}`;
  const known = environment.answers.get(key);
  if (known) return known;
  const served: ServedConfig = {
    etag: `"${etagOf()}"`,
    revision,
    get body() {
      return bodies.get(`${environment.serial} ${key}`, body);
    },
  };
  if (environment.answers.size < MAX_ANSWERS) environment.answers.set(key, served);
  return served;
}

/** Of the versions and what they were rendered to. */
function hashOf(chosen: readonly Rendered[]): string {
  const text = chosen.map((one) => `${one.config.version}${one.checksum}`).join();
  return createHash('sha256').update(text).digest('hex').slice(0, 24);
}

const NOTHING_ASKED = '"sampleRequests":[],"pendingAction":null';

/** What this node alone is asked to do, as JSON; the very constant where that is nothing. */
function askedOf({ update, sampleRequests }: KnownNode): string {
  if (!update && sampleRequests.length === 0) return NOTHING_ASKED;
  const action = update ? JSON.stringify(update.action) : 'null';
  return `"sampleRequests":${JSON.stringify(sampleRequests)},"pendingAction":${action}`;
}

/**
 * Only the secrets and certificate files that the pipeline names go with it. A named one that is missing stops the
 * rendering.
 */
function render(
  config: DeployedConfig,
  secrets: ReadonlyMap<string, () => string>,
  certificates: ReadonlyMap<string, CertificateFile>,
): Rendered {
  const named = secretReferences(config.configYaml).flatMap(({ variable, optional }): [string, string][] => {
    const open = secrets.get(variable);
    if (open) return [[variable, open()]];
    if (optional) return [];
    throw new Error(`pipeline ${config.pipelineId} needs ${variable}, which is missing`);
  });
  const values = new Map(named);
  const configYaml = servedYaml(config.configYaml, values);
  for (const variable of vrlReferences(configYaml)) {
    const value = values.get(variable);
    if (value !== undefined) named.push([vrlVariable(variable), escapeForVrl(value)]);
  }
  const certFiles = certificateReferences(config.configYaml).map((filename): CertFile => {
    const file = certificates.get(filename);
    if (file) return { name: file.name, filename, data: file.open() };
    throw new Error(`pipeline ${config.pipelineId} needs the certificate file ${filename}, which is missing`);
  });
  const drain = config.drainSeconds === null ? {} : { drainSeconds: config.drainSeconds };
  // Where it is not set the checksum is as before there was such a setting: nothing is started again by an upgrade.
  const more = config.drainSeconds === null ? [] : [config.drainSeconds];
  const checksum = `sha256:${createHash('sha256')
    .update(JSON.stringify([configYaml, named, config.logLevel, certFiles, ...more]))
    .digest('hex')}`;
  const entry: PipelineEntry = {
    pipelineId: config.pipelineId,
    pipelineName: config.pipelineName,
    version: config.version,
    configYaml,
    checksum,
    logLevel: config.logLevel,
    secrets: Object.fromEntries(named),
    certFiles,
    ...drain,
  };
  return { config, json: JSON.stringify(entry), checksum };
}
