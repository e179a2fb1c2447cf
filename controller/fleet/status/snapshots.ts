/**
 * The joins of whole environments, shared by all who look at the same time: a page that is open a hundred times asks the
 * database once. Each holds for a second at most, and only until something of its environment is known to have changed.
 */
import type { Clock } from '../../../reconcilers/engine/clock.ts';
import type { UiTopic } from '../../../schemas/api/git-sync.ts';
import type { Bus } from '../../platform/runtime/bus.ts';
import type { Cells } from './cells.ts';
import type { Joined } from './join-status.ts';

const MAX_AGE_MS = 1_000;
const SWEEP_MS = 5_000;
/** What a join shows. */
const TOPICS: readonly UiTopic[] = ['fleet', 'pipelines', 'rollouts', 'git', 'environments'];

export interface Snapshots {
  /** One of each environment; `make` is asked for those that nobody has. */
  read(
    environmentIds: readonly string[],
    make: (missing: readonly string[]) => Promise<ReadonlyMap<string, Joined>>,
  ): Promise<ReadonlyMap<string, Joined>>;
  /** The cells of one, in the same way. */
  readCells(environmentId: string, make: () => Promise<Cells>): Promise<Cells>;
  /** Of one environment, or of all: whoever asks from now on sees what has changed. */
  drop(environmentId?: string): void;
  stop(): void;
}

interface Held<T> {
  madeAt: number;
  made: Promise<T | undefined>;
}

/** What is held of environments, of one kind. */
function createShelf<T>(clock: Clock) {
  const held = new Map<string, Held<T>>();
  const isFresh = ({ madeAt }: Held<T>) => clock.now() >= madeAt && clock.now() - madeAt < MAX_AGE_MS;
  return {
    drop(environmentId?: string): void {
      if (environmentId === undefined) held.clear();
      else held.delete(environmentId);
    },
    sweep(): void {
      for (const [environmentId, one] of held) if (!isFresh(one)) held.delete(environmentId);
    },
    async read(
      environmentIds: readonly string[],
      make: (missing: readonly string[]) => Promise<ReadonlyMap<string, T>>,
    ): Promise<ReadonlyMap<string, T>> {
      const missing = environmentIds.filter((id) => {
        const one = held.get(id);
        return !(one && isFresh(one));
      });
      if (missing.length > 0) {
        const madeAt = clock.now();
        const made = make(missing);
        for (const id of missing) {
          const one: Held<T> = { madeAt, made: made.then((all) => all.get(id)) };
          held.set(id, one);
          one.made.catch(() => {
            if (held.get(id) === one) held.delete(id);
          });
        }
      }
      const found = new Map<string, T>();
      // Taken hold of before the first wait: what is dropped meanwhile still answers those who had asked.
      const asked = environmentIds.map((id) => [id, held.get(id)?.made] as const);
      for (const [id, made] of asked) {
        const one = await made;
        if (one !== undefined) found.set(id, one);
      }
      return found;
    },
  };
}

export function createSnapshots(options: { bus: Bus; clock: Clock }): Snapshots {
  const { bus, clock } = options;
  const joins = createShelf<Joined>(clock);
  const cells = createShelf<Cells>(clock);

  function drop(environmentId?: string): void {
    joins.drop(environmentId);
    cells.drop(environmentId);
  }

  // A large one takes tens of megabytes, which nobody may look at again.
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
    async readCells(environmentId, make) {
      const found = await cells.read([environmentId], async () => new Map([[environmentId, await make()]]));
      return found.get(environmentId) ?? { nodes: [], pipelines: [] };
    },
  };
}
