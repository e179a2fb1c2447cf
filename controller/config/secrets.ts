/** Keys of encryption at rest, and the programs that environments may ask for secrets. */
import { readFileSync, statSync } from 'node:fs';
import { isAbsolute, normalize } from 'node:path';
import type { ExecRequest } from '../secrets/index.ts';
import { ConfigError, type Environment, listed, type Variable } from './values.ts';

export interface SecretsConfig {
  secretKey: string | null;
  /** Earlier keys, which open what they sealed and seal nothing. */
  previousSecretKeys: string[];
  /** Command lines that environments may ask for secrets, their parts one blank apart; none turns the backend EXEC off. */
  execSecretCommands: string[];
  /** The `config` sent to those that speak version 1.1 of the protocol, by command line. */
  execSecretRequests: ReadonlyMap<string, ExecRequest>;
}

export const SECRETS_VARIABLES: readonly Variable[] = [
  {
    name: 'HEADGATE_SECRET_KEY',
    default: '(made once)',
    help: 'key for encryption at rest, at least 32 characters; the same on every replica',
  },
  {
    name: 'HEADGATE_PREVIOUS_SECRET_KEYS',
    default: '(none)',
    help: 'earlier keys that still open what they encrypted, comma-separated; see headgate keys --help',
  },
  {
    name: 'HEADGATE_EXEC_SECRET_COMMANDS',
    default: '(none)',
    help: 'programs that environments may ask for secrets: absolute paths with their arguments, comma-separated',
  },
  {
    name: 'HEADGATE_EXEC_SECRET_CONFIGS',
    default: '(none)',
    help: 'JSON file with type and config of those of the programs that speak protocol 1.1, by command',
  },
];

export const readSecretsConfig = (env: Environment): SecretsConfig => ({
  secretKey: env.HEADGATE_SECRET_KEY || null,
  previousSecretKeys: listed(env.HEADGATE_PREVIOUS_SECRET_KEYS),
  ...execSecrets(env),
});

const MOST_CONFIGS = 256 * 1024;

/** Set by the operator alone: the config of a program decides what it reads. */
function execSecrets(env: Environment): Pick<SecretsConfig, 'execSecretCommands' | 'execSecretRequests'> {
  const execSecretCommands = programs(env.HEADGATE_EXEC_SECRET_COMMANDS);
  const file = env.HEADGATE_EXEC_SECRET_CONFIGS;
  const wrong = (why: string) => new ConfigError(`HEADGATE_EXEC_SECRET_CONFIGS: ${why}`);
  if (!file) return { execSecretCommands, execSecretRequests: new Map() };
  let entries: [string, unknown][];
  try {
    if (statSync(file).size > MOST_CONFIGS) throw wrong(`${file} is larger than 256 KiB`);
    entries = Object.entries(JSON.parse(readFileSync(file, 'utf8')) as object);
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    // What was read may hold credentials.
    const { code } = error as NodeJS.ErrnoException;
    throw wrong(code ? `${file} cannot be read (${code})` : `${file} is no JSON object`);
  }
  const execSecretRequests = new Map<string, ExecRequest>();
  for (const [line, value] of entries) {
    const shortened = line.slice(0, 60);
    if (!execSecretCommands.includes(line))
      throw wrong(`"${shortened}" is none of the commands in HEADGATE_EXEC_SECRET_COMMANDS`);
    const { type, config } = (value ?? {}) as Partial<ExecRequest>;
    const isObject = typeof config === 'object' && config !== null && !Array.isArray(config);
    if (typeof type !== 'string' || type === '' || !isObject)
      throw wrong(`"${shortened}" needs {"type": "<name>", "config": {…}}`);
    execSecretRequests.set(line, { type, config });
  }
  return { execSecretCommands, execSecretRequests };
}

function programs(text: string | undefined): string[] {
  const entries = listed(text).map((entry) => entry.split(/\s+/).join(' '));
  const bad = entries.find((entry) => {
    const [path = ''] = entry.split(' ');
    return !isAbsolute(path) || normalize(path) !== path;
  });
  if (bad !== undefined)
    throw new ConfigError(
      `HEADGATE_EXEC_SECRET_COMMANDS: "${bad.slice(0, 60)}" is not an absolute path without . and ..`,
    );
  return entries;
}
