/** The version and the component types of the node's engine: each executable is asked once for both, in the background. */
import { type ChildProcess, execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import type { Clock } from '../../reconcilers/loops/clock.ts';
import {
  COMPONENT_NAME,
  type ComponentNames,
  componentsText,
  MAX_COMPONENT_NAMES,
} from '../../schemas/agent/engine-components.ts';
import type { EngineInventory } from '../../schemas/agent/protocol.ts';
import type { Logger } from '../log.ts';
import { cleanEnvironment } from '../supervise/engine/engine-environment.ts';
import { engineVersion, findExecutable } from '../supervise/engine/engine-executable.ts';

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 256 * 1024;
/** After an answer that took too long, and after one without a version: the machine may have been busy. */
const RETRY_MS = 5 * 60_000;

export interface InventoryOptions {
  engineBin: string;
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  log: Logger;
  /** What the executable says. Empty when it has been replaced by one that has not answered yet. */
  onVersion(banner: string): void;
}

interface Known {
  digest: string;
  components: EngineInventory['components'];
}

export class EngineComponents {
  readonly #options: InventoryOptions;
  /** Path, size, times and inode of the executable that was asked. */
  #identity: string | undefined;
  #version = '';
  /** It has said its component types, or that it knows no `list`. */
  #listed = false;
  #known: Known | undefined;
  #retryAt = Number.POSITIVE_INFINITY;
  #asking = false;
  #wanted = false;
  #stopped = false;
  #child: ChildProcess | undefined;

  constructor(options: InventoryOptions) {
    this.#options = options;
  }

  /** For a heartbeat; undefined until the engine has answered. */
  report(): EngineInventory | undefined {
    if (!this.#known) return undefined;
    const { digest, components } = this.#known;
    return { componentsDigest: digest, ...(this.#wanted ? { components } : {}) };
  }

  /** A heartbeat has arrived, with what the controller answered. */
  delivered(wanted: boolean): void {
    this.#wanted = wanted;
    void this.#refresh();
  }

  /** Leaves nothing running. */
  stop(): void {
    this.#stopped = true;
    this.#child?.kill('SIGKILL');
  }

  async #refresh(): Promise<void> {
    const { engineBin, env, clock } = this.#options;
    if (this.#asking || this.#stopped) return;
    this.#asking = true;
    try {
      const path = findExecutable(engineBin, env);
      const found = path === undefined ? undefined : await stat(path);
      if (path === undefined || found === undefined) return;
      const identity = [path, found.size, found.mtimeMs, found.ctimeMs, found.ino].join(' ');
      if (identity !== this.#identity) this.#forget();
      else if (clock.monotonic() < this.#retryAt) return;
      this.#identity = identity;
      this.#retryAt = Number.POSITIVE_INFINITY;
      if (this.#version === '') await this.#askVersion();
      if (!this.#listed && !this.#stopped) await this.#askComponents(path);
    } catch {
      // The executable went away meanwhile: the next heartbeat looks again.
    } finally {
      this.#child = undefined;
      this.#asking = false;
    }
  }

  /** What the executable before this one has said. */
  #forget(): void {
    if (this.#identity !== undefined) this.#options.onVersion('');
    this.#version = '';
    this.#listed = false;
    this.#known = undefined;
  }

  async #askVersion(): Promise<void> {
    const { engineBin, env, onVersion } = this.#options;
    this.#version = await engineVersion(engineBin, env, this.#started);
    if (this.#version === '') this.#retryLater();
    else onVersion(this.#version);
  }

  async #askComponents(path: string): Promise<void> {
    const { env, log } = this.#options;
    const output = await list(path, env, this.#started);
    this.#listed = output !== 'late';
    if (output === 'late') this.#retryLater();
    const components = typeof output === 'object' ? parseComponents(output.text) : undefined;
    if (!components) return log.debug('the engine does not list its components', { engine: path });
    const digest = `sha256:${createHash('sha256').update(componentsText(components)).digest('hex')}`;
    this.#known = { digest, components };
  }

  readonly #started = (child: ChildProcess): void => {
    this.#child = child;
  };

  #retryLater(): void {
    this.#retryAt = this.#options.clock.monotonic() + RETRY_MS;
  }
}

/** `late`: it was ended. Undefined: the engine knows no `list`. */
function list(
  path: string,
  env: InventoryOptions['env'],
  started: (child: ChildProcess) => void,
): Promise<{ text: string } | 'late' | undefined> {
  return new Promise((done) => {
    const options = {
      env: cleanEnvironment(env),
      timeout: TIMEOUT_MS,
      killSignal: 'SIGKILL',
      maxBuffer: MAX_BYTES,
    } as const;
    const child = execFile(path, ['list', '--format', 'json'], options, (error, stdout) => {
      if (!error) done({ text: stdout });
      else done(error.killed && error.code !== 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER' ? 'late' : undefined);
    });
    started(child);
  });
}

/** Undefined for what is no list of components. */
export function parseComponents(text: string): EngineInventory['components'] {
  try {
    const json = JSON.parse(text) as Record<string, unknown>;
    const names = (section: string): string[] => {
      const value = json[section] ?? [];
      if (!Array.isArray(value) || value.length > MAX_COMPONENT_NAMES) throw new Error(section);
      if (!value.every((name): name is string => typeof name === 'string' && COMPONENT_NAME.test(name)))
        throw new Error(section);
      return value;
    };
    const components = {
      sources: names('sources'),
      transforms: names('transforms'),
      sinks: names('sinks'),
      enrichmentTables: names('enrichment_tables'),
    } satisfies ComponentNames;
    return components.sources.length + components.sinks.length > 0 ? components : undefined;
  } catch {
    return undefined;
  }
}
