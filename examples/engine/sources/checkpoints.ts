import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isTable } from '../config/table.ts';

/** Where reading a file goes on, and by what the file is known again after a restart. */
export interface Checkpoint {
  /** Device and inode: stays the same when the file is renamed. */
  identity: string;
  /** Bytes of the file that were sent on; always the start of a line. */
  position: number;
  /** Hash of the file's first `headLength` bytes: tells a reused inode and a rewritten file. */
  head: string;
  headLength: number;
  /** Milliseconds since the epoch of the last change of this entry. */
  seen: number;
}

const VERSION = '1';
const KEEP_MS = 30 * 24 * 3600 * 1000;
const MAX_ENTRIES = 10_000;

/** The positions of one source, kept in `<data_dir>/<source id>/checkpoints.json`. */
export class Checkpoints {
  readonly #folder: string;
  readonly #entries = new Map<string, Checkpoint>();
  #changed = false;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Reads what is stored; an absent file is an empty one. Throws if the file cannot be understood. */
  load(): void {
    let text: string;
    try {
      text = readFileSync(join(this.#folder, 'checkpoints.json'), 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
      throw error;
    }
    const stored: unknown = JSON.parse(text);
    if (!isTable(stored) || stored.version !== VERSION || !Array.isArray(stored.checkpoints)) {
      throw new Error(
        `unknown format of ${join(this.#folder, 'checkpoints.json')}; move the file away to start over`,
      );
    }
    for (const entry of stored.checkpoints.slice(0, MAX_ENTRIES) as Checkpoint[]) {
      this.#entries.set(entry.identity, entry);
    }
  }

  get(identity: string): Checkpoint | undefined {
    return this.#entries.get(identity);
  }

  set(checkpoint: Checkpoint): void {
    this.#entries.set(checkpoint.identity, checkpoint);
    this.#changed = true;
  }

  /** Writes what changed, whole and in one rename. Entries that were not seen for 30 days are left out. */
  save(now: number): void {
    if (!this.#changed) return;
    for (const [identity, entry] of this.#entries) {
      if (now - entry.seen > KEEP_MS) this.#entries.delete(identity);
    }
    const path = join(this.#folder, 'checkpoints.json');
    mkdirSync(this.#folder, { recursive: true });
    const newest = [...this.#entries.values()].sort((a, b) => b.seen - a.seen).slice(0, MAX_ENTRIES);
    writeFileSync(`${path}.new`, JSON.stringify({ version: VERSION, checkpoints: newest }), { mode: 0o600 });
    renameSync(`${path}.new`, path);
    this.#changed = false;
  }
}
