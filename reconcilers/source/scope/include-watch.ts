/**
 * Which included files changed since the last read. Looks at the folders that hold them first, since thousands of
 * files lie in a few folders.
 */
import type { IncludeReader, IncludeState } from './include-reader.ts';

interface Watched {
  key: string;
  users: number;
}

interface WatchedFolder {
  /** What the folder was when all in it was as watched. */
  key: string | null;
  files: Map<string, Watched>;
}

export interface StaleIncludes {
  paths: ReadonlySet<string>;
  /** To be called once everything that includes one of the paths was built again. */
  settle(): void;
}

function folderOf(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf('/'), 0));
}

export class IncludeWatch {
  private readonly folders = new Map<string, WatchedFolder>();

  add(includes: readonly IncludeState[]): void {
    for (const { path, key } of includes) {
      const name = folderOf(path);
      let folder = this.folders.get(name);
      if (!folder) {
        folder = { key: null, files: new Map() };
        this.folders.set(name, folder);
      }
      const watched = folder.files.get(path);
      if (watched) watched.users += 1;
      else folder.files.set(path, { key, users: 1 });
    }
  }

  remove(includes: readonly IncludeState[]): void {
    for (const { path } of includes) {
      const name = folderOf(path);
      const folder = this.folders.get(name);
      const watched = folder?.files.get(path);
      if (!folder || !watched) continue;
      watched.users -= 1;
      if (watched.users === 0) folder.files.delete(path);
      if (folder.files.size === 0) this.folders.delete(name);
    }
  }

  async stale(reader: Pick<IncludeReader, 'key'>): Promise<StaleIncludes> {
    const paths = new Set<string>();
    const seen: [WatchedFolder, string][] = [];
    for (const [name, folder] of this.folders) {
      const key = await reader.key(name);
      if (folder.key === key) continue;
      seen.push([folder, key]);
      for (const [path, watched] of folder.files) {
        if ((await reader.key(path)) !== watched.key) paths.add(path);
      }
    }
    return {
      paths,
      settle() {
        for (const [folder, key] of seen) folder.key = key;
      },
    };
  }
}
