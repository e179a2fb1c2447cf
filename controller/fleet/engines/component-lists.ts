/**
 * Stores the component types that heartbeats report. A heartbeat carries the digest of its list; the controller requests the
 * list once per environment and digest. The stored digests are cached, so that a heartbeat needs no query.
 */
import { createHash } from 'node:crypto';
import type { Knex } from 'knex';
import {
  COMPONENT_NAME,
  type ComponentNames,
  componentsText,
} from '../../../schemas/agent/engine-components.ts';
import type { EngineInventory } from '../../../schemas/agent/protocol.ts';
import { messageOf } from '../../platform/operation/errors.ts';
import type { Logger } from '../../platform/runtime/logger.ts';
import { hasComponents, storeComponents } from './store.ts';

const DIGEST = /^sha256:[0-9a-f]{64}$/;
/** The cache expires: another controller may have removed an unused list, and a rejected list may be accepted later. */
const MAX_AGE_MS = 60 * 60_000;
/** Pause after a database error. */
const RETRY_MS = 30_000;
const MAX_KNOWN = 10_000;

type State = 'stored' | 'missing' | 'refused';

export interface ComponentLists {
  /**
   * `digest`: the digest to store with the node, null for a malformed one. `send`: the agent has to send the list. `warning`:
   * why the list was not stored.
   */
  accept(
    environmentId: string,
    inventory: EngineInventory,
  ): Promise<{ digest: string | null; send: boolean; warning?: string }>;
}

export function createComponentLists(options: { db: Knex; log: Logger }): ComponentLists {
  const { db, log } = options;
  const known = new Map<string, { state: Promise<State>; until: number }>();

  function remember(key: string, state: Promise<State>, ms = MAX_AGE_MS): Promise<State> {
    if (known.size >= MAX_KNOWN) known.clear();
    known.set(key, { state, until: performance.now() + ms });
    return state;
  }

  function stateOf(key: string, environmentId: string, digest: string): Promise<State> {
    const cached = known.get(key);
    if (cached && cached.until > performance.now()) return cached.state;
    const lookup = hasComponents(db, environmentId, digest).then(
      (isStored): State => (isStored ? 'stored' : 'missing'),
      (error: unknown): State => {
        log.warn({ reason: messageOf(error) }, 'the component types of an engine could not be read');
        remember(key, Promise.resolve('refused'), RETRY_MS);
        return 'refused';
      },
    );
    return remember(key, lookup);
  }

  async function store(key: string, environmentId: string, digest: string, names: ComponentNames) {
    try {
      const stored = await storeComponents(db, environmentId, digest, names);
      remember(key, Promise.resolve(stored ? 'stored' : 'refused'));
      return stored ? undefined : 'engine.components: this environment has too many different engines';
    } catch (error) {
      log.warn({ reason: messageOf(error) }, 'the component types of an engine could not be stored');
      remember(key, Promise.resolve('refused'), RETRY_MS);
      return undefined;
    }
  }

  return {
    async accept(environmentId, { componentsDigest: digest, components }) {
      if (!DIGEST.test(digest)) {
        return { digest: null, send: false, warning: 'engine.componentsDigest: must be sha256:<hex>' };
      }
      const key = `${environmentId} ${digest}`;
      const state = await stateOf(key, environmentId, digest);
      if (state !== 'missing') return { digest, send: false };
      if (!components) return { digest, send: true };
      const warning = findFault(digest, components);
      if (warning !== undefined) return { digest: null, send: false, warning };
      const reason = await store(key, environmentId, digest, components);
      return { digest, send: false, ...(reason === undefined ? {} : { warning: reason }) };
    },
  };
}

/** The digest is the key of the list, so a digest that does not match would change the list of other nodes. */
function findFault(digest: string, components: ComponentNames): string | undefined {
  const names = Object.values(components).flat() as string[];
  if (!names.every((name) => COMPONENT_NAME.test(name)))
    return 'engine.components: a name has other characters than letters, digits, _ and -';
  const own = `sha256:${createHash('sha256').update(componentsText(components)).digest('hex')}`;
  return own === digest ? undefined : 'engine.components: componentsDigest is not the digest of these lists';
}
