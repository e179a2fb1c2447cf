/**
 * Lists of component types as heartbeats bring them. A heartbeat carries a digest; its list is asked for once in each
 * environment. Which digests are stored is kept in memory, so that a heartbeat asks the database nothing.
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
/** Another controller may have removed a list that no node reported; and a list that was refused may be taken later. */
const BELIEVED_MS = 60 * 60_000;
/** After a fault of the database. */
const RETRY_MS = 30_000;
const MAX_KNOWN = 10_000;

type State = 'stored' | 'missing' | 'refused';

export interface ComponentLists {
  /**
   * `digest`: what to store with the node; null for one that has no form. `send`: the list is wanted. `warning`: why what
   * came is not stored.
   */
  take(
    environmentId: string,
    inventory: EngineInventory,
  ): Promise<{ digest: string | null; send: boolean; warning?: string }>;
}

export function createComponentLists(options: { db: Knex; log: Logger }): ComponentLists {
  const { db, log } = options;
  const known = new Map<string, { state: Promise<State>; until: number }>();

  function remember(key: string, state: Promise<State>, ms = BELIEVED_MS): Promise<State> {
    if (known.size >= MAX_KNOWN) known.clear();
    known.set(key, { state, until: performance.now() + ms });
    return state;
  }

  function stateOf(key: string, environmentId: string, digest: string): Promise<State> {
    const held = known.get(key);
    if (held && held.until > performance.now()) return held.state;
    const asked = hasComponents(db, environmentId, digest).then(
      (there): State => (there ? 'stored' : 'missing'),
      (error: unknown): State => {
        log.warn({ reason: messageOf(error) }, 'component types of an engine could not be looked up');
        remember(key, Promise.resolve('refused'), RETRY_MS);
        return 'refused';
      },
    );
    return remember(key, asked);
  }

  async function store(key: string, environmentId: string, digest: string, names: ComponentNames) {
    try {
      const stored = await storeComponents(db, environmentId, digest, names);
      remember(key, Promise.resolve(stored ? 'stored' : 'refused'));
      return stored ? undefined : 'engine.components: this environment has too many different engines';
    } catch (error) {
      log.warn({ reason: messageOf(error) }, 'component types of an engine could not be stored');
      remember(key, Promise.resolve('refused'), RETRY_MS);
      return undefined;
    }
  }

  return {
    async take(environmentId, { componentsDigest: digest, components }) {
      if (!DIGEST.test(digest)) {
        return { digest: null, send: false, warning: 'engine.componentsDigest: must be sha256:<hex>' };
      }
      const key = `${environmentId} ${digest}`;
      const state = await stateOf(key, environmentId, digest);
      if (state !== 'missing') return { digest, send: false };
      if (!components) return { digest, send: true };
      const warning = faultOf(digest, components);
      if (warning !== undefined) return { digest: null, send: false, warning };
      const refused = await store(key, environmentId, digest, components);
      return { digest, send: false, ...(refused === undefined ? {} : { warning: refused }) };
    },
  };
}

/** The digest is the key of a list: one that is not its own would speak for other nodes. */
function faultOf(digest: string, components: ComponentNames): string | undefined {
  const names = Object.values(components).flat() as string[];
  if (!names.every((name) => COMPONENT_NAME.test(name)))
    return 'engine.components: a name has other characters than letters, digits, _ and -';
  const own = `sha256:${createHash('sha256').update(componentsText(components)).digest('hex')}`;
  return own === digest ? undefined : 'engine.components: componentsDigest is not the digest of these lists';
}
