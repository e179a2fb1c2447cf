/**
 * The config that nodes are served. It is rendered once per change of an environment and kept in memory; per node only the
 * selection of pipelines is computed.
 *
 * Agents stop a pipeline that is absent from their config. So a failure never removes a deployed pipeline from the answer: the
 * last good rendering is served, or UNAVAILABLE, on which agents change nothing.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf, unavailable } from '../../platform/operation/errors.ts';
import type { KnownNode } from '../nodes/directory/node-directory.ts';
import { createBodyCache } from './body-cache.ts';
import { type EnvironmentConfig, loadEnvironment, type Sources } from './environment-config.ts';
import { answerFor, type ServedConfig } from './node-answer.ts';

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

export function createConfigServer(options: Sources & { pushUrl: string | null }): ConfigServer {
  const { log } = options;
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

  async function load(environmentId: string, before: EnvironmentConfig | null): Promise<EnvironmentConfig> {
    serial += 1;
    const loaded = await loadEnvironment(options, environmentId, { before, serial });
    if (loaded) return loaded;
    // Nothing else would remove the slot of an environment that is requested after it was deleted.
    if (!before) slots.delete(environmentId);
    throw unavailable('the environment was deleted');
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
