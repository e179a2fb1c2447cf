import { statfs } from 'node:fs/promises';

/** Two files of PostgreSQL's write-ahead log. */
const NEEDED_BYTES = 32 * 1024 * 1024;

export interface DiskWatch {
  /** Looks, and tells of a change. Answers whether PostgreSQL lacks the space to work. */
  look(): Promise<boolean>;
  /** As last seen. */
  full(): boolean;
}

/** Tells once when the disk of `dir` runs full, and once when there is space again. */
export function createDiskWatch(dir: string, tell: (message: string, full: boolean) => void): DiskWatch {
  let full = false;
  return {
    async look() {
      const free = await statfs(dir).then(
        ({ bavail, bsize }) => bavail * bsize,
        () => null, // what is wrong there, PostgreSQL itself will say
      );
      const now = free !== null && free < NEEDED_BYTES;
      if (now !== full) {
        full = now;
        tell(
          now
            ? `the disk of ${dir} is full (${Math.floor((free ?? 0) / 1024 ** 2)} MB left): free some space; until then changes may be refused`
            : `the disk of ${dir} has space again`,
          now,
        );
      }
      return full;
    },
    full: () => full,
  };
}
