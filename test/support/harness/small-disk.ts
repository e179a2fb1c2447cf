/** A data directory on a disk of its own that can be filled. Only root on Linux may make one. */
import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDataDir } from './headgate.ts';

export interface SmallDisk {
  folder: string;
  /** To the last byte. */
  fill(): void;
  /** Takes away what filled it. */
  empty(): void;
  /** Its files go with it. */
  remove(): void;
}

/** Null where it cannot be made. */
export function smallDisk(megabytes: number): SmallDisk | null {
  const folder = temporaryDataDir();
  const options = `size=${megabytes}m,mode=711`;
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'headgate-test', folder]).status !== 0) {
    rmSync(folder, { recursive: true });
    return null;
  }
  const filler = join(folder, 'filler');
  return {
    folder,
    fill() {
      const block = Buffer.alloc(4_096);
      for (;;) {
        try {
          writeFileSync(filler, block, { flag: 'a' });
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code === 'ENOSPC') return;
          throw error;
        }
      }
    },
    empty: () => rmSync(filler, { force: true }),
    remove() {
      spawnSync('umount', ['-l', folder]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
