import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ID } from '../../limits.ts';
import { removeFile, TEMPORARY_FILE } from './atomic-files.ts';

const SIDECAR_ENDING = '.svc-metrics.yaml';

/** Every path that the agent uses under SVC_DATA_DIR. Ids are checked before they come here. */
export class DataDirectory {
  readonly root: string;
  readonly token: string;
  readonly pipelines: string;
  readonly certs: string;
  readonly data: string;
  /** Configs that are only looked at by an engine. Inside of `data`, which may be a disk of its own; no id has a dot. */
  readonly checks: string;

  constructor(root: string) {
    this.root = resolve(root);
    this.token = join(this.root, 'node-token');
    this.pipelines = join(this.root, 'pipelines');
    this.certs = join(this.root, 'certs');
    this.data = join(this.root, 'data');
    this.checks = join(this.data, '.checks');
  }

  config(pipelineId: string): string {
    return join(this.pipelines, `${pipelineId}.yaml`);
  }

  sidecar(pipelineId: string): string {
    return `${this.config(pipelineId)}${SIDECAR_ENDING}`;
  }

  /** The engine's own state: file positions, disk buffers. Kept when a pipeline leaves, for its return. */
  engineData(pipelineId: string): string {
    return join(this.data, pipelineId);
  }

  /** An existing folder keeps its mode: it may be one that others use, such as /tmp. */
  ensureRoot(): void {
    if (existsSync(this.root)) return;
    mkdirSync(this.root, { recursive: true, mode: 0o700 });
    chmodSync(this.root, 0o700);
  }

  /**
   * Removes configs of earlier runs that are not wanted or were only checked, and half-written files. Answers which
   * configs it removed.
   */
  removeOrphans(wanted: ReadonlySet<string>): string[] {
    const removed: string[] = [];
    for (const name of list(this.pipelines)) {
      const id = pipelineOf(name);
      if (!TEMPORARY_FILE.test(name) && (id === undefined || wanted.has(id))) continue;
      if (removeFile(join(this.pipelines, name))) removed.push(name);
    }
    for (const folder of [this.root, this.certs]) {
      for (const name of list(folder)) {
        if (TEMPORARY_FILE.test(name) && removeFile(join(folder, name))) removed.push(name);
      }
    }
    this.#removeChecks();
    return removed;
  }

  #removeChecks(): void {
    try {
      rmSync(this.checks, { recursive: true, force: true });
    } catch {
      // They hold no secrets; the next start tries again.
    }
  }
}

/** The pipeline that a config or sidecar file belongs to; undefined for a file that is not ours. */
function pipelineOf(name: string): string | undefined {
  const ending = name.endsWith(`.yaml${SIDECAR_ENDING}`) ? `.yaml${SIDECAR_ENDING}` : '.yaml';
  if (!name.endsWith(ending)) return undefined;
  const id = name.slice(0, -ending.length);
  return ID.test(id) ? id : undefined;
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
