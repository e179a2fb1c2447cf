/** Programs beside the controller: the engine that checks configs, and what a child process may know. */
import { existsSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { ConfigError, type Environment, type Variable } from './values.ts';

export interface EngineConfig {
  /** The engine that checks configs; null when there is none. */
  engineBin: string | null;
}

export const ENGINE_VARIABLES: readonly Variable[] = [
  {
    name: 'HEADGATE_ENGINE_BIN',
    default: 'vector on the path',
    help: 'engine that checks configs before they are accepted',
  },
];

/** Also for commands that check without a controller: its other variables need not be there. */
export function readEngineBin(env: Environment): string | null {
  const given = env.HEADGATE_ENGINE_BIN;
  if (given) {
    if (!existsSync(given)) throw new ConfigError(`HEADGATE_ENGINE_BIN: ${given} does not exist`);
    return resolve(given);
  }
  return onPath(env, 'vector');
}

export const readEngineConfig = (env: Environment): EngineConfig => ({ engineBin: readEngineBin(env) });

/** What a child process of ours may know of the environment. */
export function plainEnvironment(env: Environment): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const name of ['PATH', 'HOME', 'LANG', 'TZ', 'TMPDIR']) {
    const value = env[name];
    if (value !== undefined) kept[name] = value;
  }
  return kept;
}

/** The first executable of this name on the path. */
export function onPath(env: Environment, name: string): string | null {
  for (const folder of (env.PATH ?? '').split(delimiter)) {
    if (folder !== '' && existsSync(join(folder, name))) return join(folder, name);
  }
  return null;
}
