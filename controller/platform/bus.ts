/**
 * Signals between parts and between replicas, over Postgres LISTEN/NOTIFY. A signal published in a transaction goes out
 * with its commit and not at all without. Signals say what to look at again; they may be lost (a dropped connection), so
 * whoever holds a cache drops it on `resync`, and every reconciler has its timer.
 */
import type { Knex } from 'knex';
import pg from 'pg';
import { jitter } from '../../reconcilers/engine/backoff.ts';
import type { PushMessage } from '../../schemas/agent/protocol.ts';
import type { UiTopic } from '../../schemas/api/git-sync.ts';
import { messageOf } from './errors.ts';
import type { Logger } from './logger.ts';

export type Signal =
  /** What nodes of an environment are served may have changed. */
  | { type: 'config'; environmentId: string; pipelineId?: string; reason: string }
  /** How often nodes poll, when a silent one is unreachable, or how long what they tell is kept. */
  | { type: 'fleet' }
  /** A node's token, labels, maintenance mode or existence changed. */
  | { type: 'node'; nodeId: string; environmentId: string }
  /** A message for the push stream of a node, wherever that is connected. What it says is stored too, or may be lost. */
  | { type: 'push'; nodeId: string; message: PushMessage }
  /** There is something new of a live tap: events in the table, who watches it, or the reason of its end. */
  | { type: 'tap'; tapId: string; ended?: string }
  /** The environment was deleted, with all that it had. */
  | { type: 'environment'; environmentId: string }
  /** Pages of an environment are out of date; null for all. */
  | { type: 'ui'; environmentId: string | null; topics: UiTopic[] }
  /** A reconciler should look at a key. */
  | { type: 'wake'; loop: string; key: string; trigger: string }
  /** There is a new key to seal with. */
  | { type: 'keys' }
  /** A user's sessions or roles changed. */
  | { type: 'user'; userId: string }
  /** Signals may have been missed. */
  | { type: 'resync' };

export type SignalType = Signal['type'];
export type SignalOf<T extends SignalType> = Extract<Signal, { type: T }>;

export interface Bus {
  publish(db: Knex, signal: Exclude<Signal, { type: 'resync' }>): Promise<void>;
  /** The answer takes the listener away again. */
  on<T extends SignalType>(type: T, listener: (signal: SignalOf<T>) => void): () => void;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** The bus of a controller, which the others can see. */
export interface NamedBus extends Bus {
  /** Shows the name that it has now. */
  introduce(): Promise<void>;
}

const CHANNEL = 'headgate';
/** Of the bus' connection: each controller has exactly one, so they are counted by it. */
const BUS_NAME = 'headgate-bus';

/** Of every controller that runs on this database, as it introduced itself. */
export async function listBusNames(db: Knex): Promise<string[]> {
  const { rows } = await db.raw<{ rows: { name: string }[] }>(
    `SELECT application_name AS name FROM pg_stat_activity
     WHERE datname = current_database() AND split_part(application_name, ' ', 1) = ?`,
    [BUS_NAME],
  );
  return rows.map(({ name }) => name);
}

/** `name` follows BUS_NAME in the name of the connection, which every user of the database may read. */
export function createBus(options: { url: string; log: Logger; name?: () => string }): NamedBus {
  const fullName = () => `${BUS_NAME} ${options.name?.() ?? ''}`.trim().slice(0, 63);
  const listeners = new Map<SignalType, Set<(signal: never) => void>>();
  let client: pg.Client | null = null;
  let stopped = false;
  let failures = 0;
  let retry: NodeJS.Timeout | undefined;

  function emit(signal: Signal): void {
    for (const listener of listeners.get(signal.type) ?? []) {
      try {
        (listener as (signal: Signal) => void)(signal);
      } catch (error) {
        options.log.error({ err: error, signal: signal.type }, 'a listener failed');
      }
    }
  }

  async function connect(): Promise<void> {
    const next = new pg.Client({
      connectionString: options.url,
      application_name: fullName(),
      keepAlive: true,
    });
    // Until then, what goes wrong is thrown below; some of it is told by an event as well.
    let live = false;
    const onLost = (error?: Error) => {
      if (!live) return;
      live = false;
      if (client === next) client = null;
      next.end().catch(() => {});
      if (stopped) return;
      options.log.warn({ reason: error ? messageOf(error) : 'closed' }, 'bus connection lost, reconnecting');
      reconnectLater();
    };
    next.on('error', onLost);
    next.on('end', () => onLost());
    next.on('notification', (message) => {
      const signal = parse(message.payload);
      if (signal) emit(signal);
    });
    try {
      await next.connect();
      await next.query(`LISTEN ${CHANNEL}`);
      live = true;
    } catch (error) {
      await next.end().catch(() => {});
      throw error;
    }
    if (stopped) {
      await next.end().catch(() => {});
      return;
    }
    client = next;
    failures = 0;
  }

  function reconnectLater(): void {
    failures += 1;
    const delay = jitter(Math.min(5_000, 100 * 2 ** Math.min(failures, 10)));
    retry = setTimeout(() => {
      if (stopped) return;
      connect().then(
        () => emit({ type: 'resync' }),
        () => reconnectLater(),
      );
    }, delay);
    retry.unref();
  }

  return {
    async publish(db, signal) {
      await db.raw('SELECT pg_notify(?, ?)', [CHANNEL, JSON.stringify(signal)]);
    },
    on(type, listener) {
      const set = listeners.get(type) ?? new Set();
      listeners.set(type, set);
      set.add(listener as (signal: never) => void);
      return () => set.delete(listener as (signal: never) => void);
    },
    start: connect,
    async introduce() {
      await client?.query("SELECT set_config('application_name', $1, false)", [fullName()]);
    },
    async stop() {
      stopped = true;
      clearTimeout(retry);
      await client?.end().catch(() => {});
    },
  };
}

function parse(payload: string | undefined): Signal | null {
  try {
    const signal = JSON.parse(payload ?? '') as Signal;
    return typeof signal?.type === 'string' ? signal : null;
  } catch {
    return null;
  }
}
