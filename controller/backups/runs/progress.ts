/** Writes how far a run has come, a few times a second at most. */
import type { Knex } from 'knex';
import type { Clock } from '../../../reconcilers/loops/clock.ts';
import type { Bus } from '../../platform/runtime/bus.ts';
import { type RunProgress, updateProgress } from './runs-store.ts';

const EVERY_MS = 500;

export interface RunReporter {
  phase(sentence: string): void;
  begin(tables: number): void;
  table(name: string): void;
  rows(count: number, bytes: number): void;
  tableDone(): void;
  repository(): void;
  /** How far it is. */
  current(): Readonly<RunProgress>;
  /** Writes how far it is now. */
  flush(): Promise<void>;
}

export interface ReporterOptions {
  db: Knex;
  bus: Pick<Bus, 'publish'>;
  clock: Clock;
  runId: string;
  /** Called with each change, for a terminal. */
  onChange?: ((progress: Readonly<RunProgress>) => void) | undefined;
}

export function createReporter({ db, bus, clock, runId, onChange }: ReporterOptions): RunReporter {
  const state: RunProgress = { phase: '', tablesDone: 0, tablesTotal: 0, rows: 0, bytes: 0 };
  let writtenAt = Number.NEGATIVE_INFINITY;
  let writing: Promise<void> = Promise.resolve();
  let isWriting = false;

  async function write(): Promise<void> {
    // Progress is for people; a run goes on where it cannot be written.
    try {
      await updateProgress(db, runId, state);
      await bus.publish(db, { type: 'ui', environmentId: null, topics: ['backups'] });
    } catch {
      // The next change tries again.
    }
    isWriting = false;
  }
  function changed(): void {
    onChange?.(state);
    if (isWriting || clock.now() - writtenAt < EVERY_MS) return;
    writtenAt = clock.now();
    isWriting = true;
    writing = write();
  }
  return {
    phase(sentence) {
      state.phase = sentence;
      changed();
    },
    begin(tables) {
      Object.assign(state, { tablesTotal: tables, tablesDone: 0, rows: 0, bytes: 0 });
      changed();
    },
    table(name) {
      state.phase = `Reading ${name}`;
      changed();
    },
    rows(count, bytes) {
      state.rows += count;
      state.bytes += bytes;
      changed();
    },
    tableDone() {
      state.tablesDone = Math.min(state.tablesDone + 1, state.tablesTotal);
      changed();
    },
    repository() {
      state.phase = 'Reading the repository';
      changed();
    },
    current: () => state,
    async flush() {
      await writing;
      await write();
    },
  };
}
