/**
 * Signals between parts and between replicas, over Postgres LISTEN/NOTIFY. A signal published in a transaction takes effect
 * with its commit and not at all without: in the controller that publishes it at once, in the others as Postgres notifies
 * them. Signals say what to look at again; they may be lost (a dropped connection), so the holder of a cache drops it on
 * `resync`, and every reconciler has its timer.
 */
import type { Knex } from 'knex';
import pg from 'pg';
import { jitter } from '../../../reconcilers/loops/backoff.ts';
import { type Clock, systemClock } from '../../../reconcilers/loops/clock.ts';
import type { PushMessage } from '../../../schemas/agent/protocol.ts';
import type { UiTopic } from '../../../schemas/api/ui-events.ts';
import { afterCommit } from '../../database/after-commit.ts';
import { messageOf } from '../operation/errors.ts';
import { newId } from '../operation/ids.ts';
import { decodePayload, encodePayloads } from './bus-payload.ts';
import type { Logger } from './logger.ts';

export type Signal =
  /** What nodes of an environment are served may have changed. */
  | { type: 'config'; environmentId: string; pipelineId?: string; reason: string }
  /** Nodes of an environment are served the version before, or not any more; who they are tell signals of the type `node`. */
  | { type: 'reverts'; environmentId: string }
  /** How often nodes poll, when a silent one is unreachable, or how long what they tell is kept. */
  | { type: 'fleet' }
  /** A node's token, labels, maintenance mode or existence changed. */
  | { type: 'node'; nodeId: string; environmentId: string }
  /** A message for the push stream of a node, wherever that is connected. What it says is stored too, or may be lost. */
  | { type: 'push'; nodeId: string; message: PushMessage }
  /** There is something new of a live tap: events in the table, who watches it, or the reason of its end. */
  | { type: 'tap'; tapId: string; ended?: string }
  /** Somebody looks at a pipeline: for a minute, what so many of its nodes report is stored at once. */
  | { type: 'watched'; pipelineId: string; nodes: number }
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
  /** An answer of the assistant shall be stopped, wherever it is written. */
  | { type: 'ai-stop'; messageId: string }
  /** A backup was restored: everything that is known of the database is out of date. */
  | { type: 'restored' }
  /** Signals may have been missed. */
  | { type: 'resync' };

export type SignalType = Signal['type'];
export type SignalOf<T extends SignalType> = Extract<Signal, { type: T }>;

/** What may be published; a bus says `resync` by itself. */
export type PublishedSignal = Exclude<Signal, { type: 'resync' }>;

export interface Bus {
  /** One statement, however many signals. Signals of a type that is `appliedHere` are for the other controllers only. */
  publish(
    db: Knex,
    signals: PublishedSignal | readonly PublishedSignal[],
    options?: { appliedHere?: readonly SignalType[] },
  ): Promise<void>;
  /** The answer takes the listener away again. */
  on<T extends SignalType>(type: T, listener: (signal: SignalOf<T>) => void): () => void;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** The bus of a controller, which the others can see. */
export interface NamedBus extends Bus {
  /** Whether signals of other controllers arrive: false from the moment that the connection is known to be broken. */
  connected(): boolean;
  /** Shows the name that it has now. */
  introduce(): Promise<void>;
}

const CHANNEL = 'headgate';

/** How often the connection is tried, and how long an answer, or a new connection, may take. Milliseconds. */
export interface ProbeTimes {
  everyMs: number;
  deadlineMs: number;
}
export const PROBE_TIMES: ProbeTimes = { everyMs: 10_000, deadlineMs: 5_000 };
/** When it is stopped, a connection that hangs is not waited for. */
const END_MS = 1_000;

/** Of the bus' connection: each controller has exactly one, so they are counted by it. */
const BUS_NAME = 'headgate-bus';
const SET_NAME = "SELECT set_config('application_name', $1, false)";

/** Of every controller that runs on this database, as it introduced itself. */
export async function listBusNames(db: Knex): Promise<string[]> {
  const { rows } = await db.raw<{ rows: { name: string }[] }>(
    `SELECT application_name AS name FROM pg_stat_activity
     WHERE datname = current_database() AND split_part(application_name, ' ', 1) = ?`,
    [BUS_NAME],
  );
  return rows.map(({ name }) => name);
}

export interface BusOptions {
  url: string;
  log: Logger;
  /** Follows BUS_NAME in the name of the connection, which every user of the database may read. */
  name?: () => string;
  clock?: Clock;
  probe?: ProbeTimes;
}

export function createBus(options: BusOptions): NamedBus {
  const { log, clock = systemClock, probe: times = PROBE_TIMES } = options;
  const fullName = () => `${BUS_NAME} ${options.name?.() ?? ''}`.trim().slice(0, 63);
  /** Goes with every signal: what this bus hears of itself has taken effect already. */
  const origin = newId();
  const listeners = new Map<SignalType, Set<(signal: never) => void>>();
  /** By open transaction: what takes effect with its commit, each once, as Postgres notifies. */
  const uncommitted = new WeakMap<Knex, Map<string, Signal>>();
  let client: pg.Client | null = null;
  let stopped = false;
  let failures = 0;
  let retry: NodeJS.Timeout | undefined;
  let cancelProbe: (() => void) | undefined;

  function emitAfterCommit(db: Knex, signals: readonly Signal[]): void {
    const earlier = uncommitted.get(db);
    const all = earlier ?? new Map<string, Signal>();
    for (const signal of signals) all.set(JSON.stringify(signal), signal);
    if (earlier) return;
    if (db.isTransaction) uncommitted.set(db, all);
    afterCommit(db, () => {
      for (const signal of all.values()) emit(signal);
    });
  }

  function emit(signal: Signal): void {
    if (stopped) return;
    for (const listener of listeners.get(signal.type) ?? []) {
      try {
        (listener as (signal: Signal) => void)(signal);
      } catch (error) {
        log.error({ err: error, signal: signal.type }, 'a listener failed');
      }
    }
  }

  async function connect(): Promise<void> {
    const next = new pg.Client({
      connectionString: options.url,
      application_name: fullName(),
      keepAlive: true,
      connectionTimeoutMillis: times.deadlineMs,
    });
    // Until then, errors are thrown below; some are emitted as an event as well.
    let live = false;
    const onLost = (error?: Error) => {
      if (!live) return;
      live = false;
      if (client === next) client = null;
      cancelProbe?.();
      next.end().catch(() => {});
      if (stopped) return;
      log.warn({ reason: error ? messageOf(error) : 'closed' }, 'bus connection lost, reconnecting');
      reconnectLater();
    };
    next.on('error', onLost);
    next.on('end', () => onLost());
    next.on('notification', (message) => {
      const payload = decodePayload(message.payload);
      if (payload.origin === origin) return;
      for (const signal of payload.signals) emit(signal);
    });
    try {
      await next.connect();
      await withDeadline(next, `LISTEN ${CHANNEL}`);
      // An application_name in the address takes the place of the one that is given here.
      await withDeadline(next, SET_NAME, [fullName()]);
      live = true;
    } catch (error) {
      await end(next);
      throw error;
    }
    if (stopped) return end(next);
    client = next;
    failures = 0;
    probeLater(next);
  }

  /** A connection that hangs, of which TCP knows nothing, is found by asking. */
  function probeLater(asked: pg.Client): void {
    cancelProbe = clock.after(times.everyMs, () => {
      withDeadline(asked, 'SELECT 1').then(
        () => {
          if (client === asked) probeLater(asked);
        },
        // The end of the stream is heard as a lost connection.
        () => {},
      );
    });
  }

  /** Where no answer comes in time the connection is broken off. */
  async function withDeadline(asked: pg.Client, statement: string, values: string[] = []): Promise<void> {
    const cancel = clock.after(times.deadlineMs, () =>
      asked.connection.stream.destroy(new Error(`no answer within ${times.deadlineMs} ms`)),
    );
    try {
      await asked.query(statement, values);
    } finally {
      cancel();
    }
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
    async publish(db, given, { appliedHere = [] } = {}) {
      const signals = [given].flat();
      if (signals.length === 0) return;
      const payloads = encodePayloads(origin, signals);
      await db.raw('SELECT pg_notify(?, payload) FROM unnest(?::text[]) payload', [CHANNEL, payloads]);
      emitAfterCommit(
        db,
        signals.filter(({ type }) => !appliedHere.includes(type)),
      );
    },
    on(type, listener) {
      const set = listeners.get(type) ?? new Set();
      listeners.set(type, set);
      set.add(listener as (signal: never) => void);
      return () => set.delete(listener as (signal: never) => void);
    },
    connected: () => client !== null,
    start: connect,
    async introduce() {
      await client?.query(SET_NAME, [fullName()]);
    },
    async stop() {
      stopped = true;
      clearTimeout(retry);
      cancelProbe?.();
      if (client) await end(client);
    },
  };
}

/** The polite way, or the other one where nobody answers. */
async function end(client: pg.Client): Promise<void> {
  const force = setTimeout(() => client.connection.stream.destroy(), END_MS);
  await client.end().catch(() => {});
  clearTimeout(force);
}
