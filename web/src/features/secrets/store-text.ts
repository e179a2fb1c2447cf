/** Where an environment keeps its secrets, in words. */
import type { SecretStore } from '../../../../schemas/api/fleet/environments.ts';
import type { SecretBackend } from '../../../../schemas/api/secrets/secret-backends.ts';

export const BACKENDS = [
  { value: 'BUILTIN', word: 'Headgate itself, encrypted' },
  { value: 'VAULT', word: 'Vault or OpenBao' },
  { value: 'CLOUD_SM', word: 'AWS Secrets Manager' },
  { value: 'EXEC', word: 'A program on the controller' },
] as const satisfies readonly { value: SecretBackend; word: string }[];

/** In the middle of a sentence: Vault and AWS are names. */
export const storeNoun = (backend: SecretBackend): string =>
  backend === 'EXEC' ? 'a program on the controller' : backendWord(backend);

export const backendWord = (backend: SecretBackend): string =>
  BACKENDS.find(({ value }) => value === backend)?.word ?? backend;

/** The one thing by which people know a store: its address, region or program. */
export function storePlace({ config }: SecretStore): string {
  if (!config) return '';
  if ('address' in config) {
    const folder = [config.mount ?? 'secret', config.prefix].filter(Boolean).join('/');
    return `${config.address} · ${folder}`;
  }
  if ('region' in config) return `${config.region}${config.prefix ? ` · ${config.prefix}…` : ''}`;
  return config.command;
}

/** What becomes of the values that are there when an environment keeps its secrets in another store. */
export const effectOfMove = (backend: SecretBackend): string =>
  backend === 'BUILTIN'
    ? 'The last good values stay as the values. Nothing restarts.'
    : 'The names that are here are looked up in the new store. A value that is another one there restarts the pipelines that name it; one that is not there stays as it is and is reported.';
