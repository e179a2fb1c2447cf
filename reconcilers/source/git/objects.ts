/**
 * The objects of one repository. The child that reads them is kept for a while, since starting one from a large
 * process takes 20 ms and holds up everything else meanwhile.
 */
import { type GitObject, ObjectSession } from './object-session.ts';

export interface ObjectReader {
  /** The object that a name stands for; null where there is none. */
  read(name: string, maxBytes: number): Promise<GitObject | null>;
}

/** Longer than a burst of pushes lasts, shorter than deleted packs should take up space. */
const IDLE_MS = 20_000;

export class RepositoryObjects {
  private readonly gitdir: string;
  private readonly idleMs: number;
  private session: ObjectSession | null = null;
  private idle: NodeJS.Timeout | undefined;

  constructor(gitdir: string, idleMs = IDLE_MS) {
    this.gitdir = gitdir;
    this.idleMs = idleMs;
  }

  /** Runs `work` with a reader that must not be used after it. */
  async use<T>(work: (reader: ObjectReader) => Promise<T>): Promise<T> {
    clearTimeout(this.idle);
    if (!this.session || this.session.ended) this.session = new ObjectSession(this.gitdir);
    const { session } = this;
    session.enter();
    try {
      return await work(session);
    } finally {
      if (session.leave() && session === this.session) {
        this.idle = setTimeout(() => void this.close(), this.idleMs).unref();
      }
    }
  }

  /** Resolves once no child is left. What is being read fails; what is read later starts a new child. */
  async close(): Promise<void> {
    clearTimeout(this.idle);
    const { session } = this;
    this.session = null;
    await session?.close();
  }
}
