/**
 * The config that nodes are served. It is rendered once per change of an environment and kept in memory; per node only the
 * selection of pipelines is computed.
 *
 * Agents stop a pipeline that is absent from their config. So a failure never removes a deployed pipeline from the answer: the
 * last good rendering is served, or UNAVAILABLE, on which agents change nothing.
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

/** A pipeline: which node gets which version, and the renderings by version id. */
interface Served extends Deployable {
  renderings: ReadonlyMap<string, Rendered>;
  /** Reverts by node id: these nodes get a previous version. */
  reverted: ReadonlyMap<string, Reverted>;
}

interface EnvironmentConfig {
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

interface Slot {
  current: EnvironmentConfig | null;
  /** The number of change signals before `current` was loaded, and the number until now. */
  loadedSignals: number;
  signals: number;
  /** The load in progress. Resolves to the last good config when it takes longer than `LOAD_WAIT_MS`. */
  loading: Promise<EnvironmentConfig> | null;
  failedAt: number;
}

/** Signals may be lost, so a config older than this is reloaded in the background while it is served. */
const MAX_AGE_MS = 30_000;
/** After a change signal, requests wait this long for the new config: a database that hangs must not keep a fleet waiting. */
const LOAD_WAIT_MS = 1_500;
/** Pause after a failed load. */
const RETRY_MS = 1_000;
/** Limit of cached answers over all environments. It does not include the renderings, which answers share. */
const BODY_CACHE_BYTES = 64 * 1024 * 1024;
/** Answers per environment, not counting their texts. */
const MAX_ANSWERS = 1_000;

export interface ConfigServer {
  forNode(node: KnownNode): Promise<ServedConfig>;
  revisionFor(node: KnownNode): Promise<number>;
  /** Ids of the pipelines that a node of the environment may report. */
  knownPipelines(environmentId: string): Promise<ReadonlySet<string>>;
  /** Checksums of the served renderings, by version id. */
  checksums(environmentId: string): Promise<ReadonlyMap<string, string>>;
  /** Number of entries in memory, for diagnostics. */
  sizes(): { environments: number; bodies: number; bodyBytes: number };
}

const environmentDeleted = () => unavailable('the environment was deleted');

export function createConfigServer(options: {
  db: Knex;
  bus: Bus;
  keyring: Keyring;
  log: Logger;
  pushUrl: string | null;
}): ConfigServer {
  const { db, keyring, log } = options;
  const slots = new Map<string, Slot>();
  const bodies = createBodyCache(BODY_CACHE_BYTES);
  let serial = 0;
  const push = options.pushUrl ? `,"pushUrl":${JSON.stringify(options.pushUrl)}` : '';

  options.bus.on('config', ({ environmentId }) => {
    const slot = slots.get(environmentId);
    if (slot) slot.signals += 1;
  });
  options.bus.on('reverts', ({ environmentId }) => {
    const slot = slots.get(environmentId);
    if (slot) slot.signals += 1;
  });
  options.bus.on('environment', ({ environmentId }) => slots.delete(environmentId));
  const markAllChanged = () => {
    for (const slot of slots.values()) slot.signals += 1;
  };
  options.bus.on('fleet', markAllChanged);
  options.bus.on('resync', markAllChanged);

  /** A pipeline that cannot be rendered keeps its own last good rendering; the others get their new one. */
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
  function recordRevertChanges(environmentId: string, changes: RevertChanges): void {
    writeRevertChanges(db, changes)
      .then(() => options.bus.publish(db, { type: 'ui', environmentId, topics: ['fleet', 'pipelines'] }))
      .catch((error: unknown) =>
        log.warn(
          { environmentId, reason: messageOf(error) },
          'changes of reverts were not recorded; the next rendering retries',
        ),
      );
  }

  async function load(environmentId: string, before: EnvironmentConfig | null): Promise<EnvironmentConfig> {
    const environment = await readConfigRevision(db, environmentId);
    if (!environment) {
      // Nothing else would remove the slot of an environment that is requested after it was deleted.
      if (!before) slots.delete(environmentId);
      throw environmentDeleted();
    }
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
    if (!(await readConfigRevision(db, environmentId))) throw environmentDeleted();
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
    const { active, changes } = classifyReverts(reverts, deployed, rendered, faults);
    if (changes.ended.length + changes.carried.length + changes.faults.length > 0)
      recordRevertChanges(environmentId, changes);
    return {
      revision: environment.revision,
      secretBackend: environment.secretBackend,
      pollIntervalMs: settings.pollIntervalMs || DEFAULT_FLEET_SETTINGS.pollIntervalMs,
      pipelines: toServed(deployed, rendered, active),
      staged: active.length > 0 || deployed.some(({ isCanary }) => isCanary),
      groups,
      pipelineIds: new Set(ids),
      loadedAt: performance.now(),
      serial: ++serial,
      answers: new Map(),
      lastAnswers: new WeakMap(),
    };
  }

  async function get(environmentId: string): Promise<EnvironmentConfig> {
    let slot = slots.get(environmentId);
    if (!slot) {
      slot = {
        current: null,
        loadedSignals: -1,
        signals: 0,
        loading: null,
        failedAt: Number.NEGATIVE_INFINITY,
      };
      slots.set(environmentId, slot);
    }
    const { signals } = slot;
    const canLoad = () => !slot.loading && performance.now() - slot.failedAt >= RETRY_MS;
    for (;;) {
      const { current } = slot;
      if (current && slot.loadedSignals >= signals) {
        if (performance.now() - current.loadedAt >= MAX_AGE_MS && canLoad()) startLoad(environmentId, slot);
        return current;
      }
      if (canLoad() || (!current && !slot.loading)) startLoad(environmentId, slot);
      const loaded = slot.loading ? await slot.loading : current;
      // The last good config: the load has failed or takes too long.
      if (loaded && loaded === current) return loaded;
    }
  }

  function startLoad(environmentId: string, slot: Slot): void {
    const { current, signals } = slot;
    const loading = load(environmentId, current)
      .then((loaded) => {
        slot.current = loaded;
        slot.loadedSignals = signals;
        return loaded;
      })
      .catch((error: unknown) => {
        slot.failedAt = performance.now();
        if (!current) throw unavailable('the configuration cannot be read at the moment');
        log.error(
          { environmentId, reason: messageOf(error) },
          'config could not be rendered; the last good one is served',
        );
        return current;
      })
      .finally(() => {
        slot.loading = null;
      });
    slot.loading = current ? Promise.race([loading, sleep(LOAD_WAIT_MS, current, { ref: false })]) : loading;
    // A background load has no caller that handles its error.
    slot.loading.catch(() => {});
  }

  return {
    async forNode(node) {
      const environment = await get(node.environmentId);
      const last = environment.lastAnswers.get(node);
      if (last?.nodeRevision === node.revision) return last.served;
      const served = answerFor(environment, node, push, bodies);
      environment.lastAnswers.set(node, { nodeRevision: node.revision, served });
      return served;
    },
    sizes: () => ({ environments: slots.size, bodies: bodies.size(), bodyBytes: bodies.bytes() }),
    async revisionFor(node) {
      return (await get(node.environmentId)).revision + node.revision;
    },
    async knownPipelines(environmentId) {
      return (await get(environmentId)).pipelineIds;
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

function answerFor(
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
  const requests = renderRequests(node);
  const body = () =>
    `{"pipelines":[${chosen.map((rendering) => rendering.json).join()}],"pollIntervalMs":${environment.pollIntervalMs},` +
    `"secretBackend":${JSON.stringify(environment.secretBackend)},${requests},"configRevision":${revision}${push}}`;
  const configEtag = () => `${revision}-${environment.pollIntervalMs}-${hashOfSelection(chosen)}`;
  if (requests !== NO_REQUESTS) {
    const hash = createHash('sha256').update(requests).digest('hex').slice(0, 12);
    // Built when it is sent and not cached: while a fleet is updated, the cache would hold one text per node.
    return {
      etag: `"${configEtag()}-${hash}"`,
      revision,
      get body() {
        return body();
      },
    };
  }
  // A staged environment can select as many pipelines as there are, but other versions of them.
  const isAll = !environment.staged && chosen.length === environment.pipelines.length;
  const key = `${revision} ${isAll ? '*' : chosen.map((rendering) => rendering.config.versionId).join()}`;
  const known = environment.answers.get(key);
  if (known) return known;
  const served: ServedConfig = {
    etag: `"${configEtag()}"`,
    revision,
    get body() {
      return bodies.get(`${environment.serial} ${key}`, body);
    },
  };
  if (environment.answers.size < MAX_ANSWERS) environment.answers.set(key, served);
  return served;
}

/** Hash of the selected versions and their renderings. */
function hashOfSelection(chosen: readonly Rendered[]): string {
  const text = chosen.map((rendering) => `${rendering.config.version}${rendering.checksum}`).join();
  return createHash('sha256').update(text).digest('hex').slice(0, 24);
}

const NO_REQUESTS = '"sampleRequests":[],"pendingAction":null';

/** The update and the samples requested of this node alone, as JSON; the constant `NO_REQUESTS` if there are none. */
function renderRequests({ update, sampleRequests }: KnownNode): string {
  if (!update && sampleRequests.length === 0) return NO_REQUESTS;
  const action = update ? JSON.stringify(update.action) : 'null';
  return `"sampleRequests":${JSON.stringify(sampleRequests)},"pendingAction":${action}`;
}

/**
 * Renders a pipeline with only the secrets and certificate files that it names. A named one that is missing fails the
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
  // Without the setting the checksum equals that of versions before the setting existed, so an upgrade restarts nothing.
  const optional = config.drainSeconds === null ? [] : [config.drainSeconds];
  const checksum = `sha256:${createHash('sha256')
    .update(JSON.stringify([configYaml, named, config.logLevel, certFiles, ...optional]))
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
