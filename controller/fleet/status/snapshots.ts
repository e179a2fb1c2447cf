/**
 * Shares the joins of whole environments between concurrent readers: a page that is open a hundred times reads the database
 * once. A join is valid for at most a second, and only until a change of its environment is signalled.
 */
import type { Clock } from '../../../reconcilers/loops/clock.ts';
import type { UiTopic } from '../../../schemas/api/ui-events.ts';
import type { Bus } from '../../platform/runtime/bus.ts';
import type { Cells } from './cells.ts';
import type { Joined } from './join-status.ts';

const MAX_AGE_MS = 1_000;
const SWEEP_MS = 5_000;
/** Signals that invalidate a join. */
const TOPICS: readonly UiTopic[] = ['fleet', 'pipelines', 'rollouts', 'git', 'environments'];

export interface Snapshots {
  /** Returns a join per environment; `make` computes the missing ones. */
  read(
    environmentIds: readonly string[],
    compute: (missing: readonly string[]) => Promise<ReadonlyMap<string, Joined>>,
  ): Promise<ReadonlyMap<string, Joined>>;
  /** Returns the cells of one environment in the same way. */
  readCells(environmentId: string, compute: () => Promise<Cells>): Promise<Cells>;
  /** Drops the snapshots of one environment or of all: later readers see the change. */
  drop(environmentId?: string): void;
  stop(): void;
}

interface Entry<T> {
  createdAt: number;
  promise: Promise<T | undefined>;
}

/** A cache of one kind of snapshot, by environment id. */
function createCache<T>(clock: Clock) {
  const entries = new Map<string, Entry<T>>();
  const isFresh = ({ createdAt }: Entry<T>) =>
    clock.now() >= createdAt && clock.now() - createdAt < MAX_AGE_MS;
  return {
    drop(environmentId?: string): void {
      if (environmentId === undefined) entries.clear();
      else entries.delete(environmentId);
    },
    sweep(): void {
      for (const [environmentId, entry] of entries) if (!isFresh(entry)) entries.delete(environmentId);
    },
    async read(
      environmentIds: readonly string[],
      compute: (missing: readonly string[]) => Promise<ReadonlyMap<string, T>>,
    ): Promise<ReadonlyMap<string, T>> {
      const missing = environmentIds.filter((id) => {
        const entry = entries.get(id);
        return !(entry && isFresh(entry));
      });
      if (missing.length > 0) {
        const createdAt = clock.now();
        const made = compute(missing);
        for (const id of missing) {
          const one: Entry<T> = { createdAt, promise: made.then((all) => all.get(id)) };
          entries.set(id, one);
          one.promise.catch(() => {
            if (entries.get(id) === one) entries.delete(id);
          });
        }
      }
      const found = new Map<string, T>();
      // Collected before the first await: a snapshot that is dropped meanwhile still answers earlier readers.
      const pending = environmentIds.map((id) => [id, entries.get(id)?.promise] as const);
      for (const [id, made] of pending) {
        const one = await made;
        if (one !== undefined) found.set(id, one);
      }
      return found;
    },
  };
}

export function createSnapshots(options: { bus: Bus; clock: Clock }): Snapshots {
  const { bus, clock } = options;
  const joins = createCache<Joined>(clock);
  const cells = createCache<Cells>(clock);

  function drop(environmentId?: string): void {
    joins.drop(environmentId);
    cells.drop(environmentId);
  }

  // A large snapshot takes tens of megabytes, which may never be read again.
  const sweep = setInterval(() => {
    joins.sweep();
    cells.sweep();
  }, SWEEP_MS);
  sweep.unref();
  bus.on('ui', ({ environmentId, topics }) => {
    if (topics.some((topic) => TOPICS.includes(topic))) drop(environmentId ?? undefined);
  });
  bus.on('node', ({ environmentId }) => drop(environmentId));
  bus.on('config', ({ environmentId }) => drop(environmentId));
  bus.on('environment', ({ environmentId }) => drop(environmentId));
  bus.on('resync', () => drop());

  return {
    drop,
    stop() {
      clearInterval(sweep);
      drop();
    },
    read: joins.read,
    async readCells(environmentId, compute) {
      const found = await cells.read(
        [environmentId],
        async () => new Map([[environmentId, await compute()]]),
      );
      return found.get(environmentId) ?? { nodes: [], pipelines: [] };
    },
  };
}
