/** HashiCorp Vault, or OpenBao: the KV secrets engine, version 2. A secret is one entry with its value in one field. */
import type { VaultConfig } from '../../../schemas/api/secret-backends.ts';
import { BackendError, quoted, type Reading, readEach, readingOf, type SecretBackend } from './backend.ts';
import { createCaller, type Reply, recordOf } from './http-call.ts';
import { createVaultSession, errorsOf, type VaultParts } from './vault-session.ts';

export function createVaultBackend(config: VaultConfig, parts: VaultParts): SecretBackend {
  const caller = createCaller(config.address, config.ca, parts.guard);
  const { mount = 'secret', field = 'value', prefix } = config;
  const session = createVaultSession(config, caller, parts);
  const placeOf = (name: string) => [mount, 'data', ...(prefix ? [prefix] : []), name].join('/');
  const pathOf = (name: string) => `/v1/${placeOf(name).split('/').map(encodeURIComponent).join('/')}`;

  /** The entry with its version, which is there for a deleted one too. */
  async function entryOf(name: string, signal: AbortSignal): Promise<Entry> {
    const reply = await session.ask(pathOf(name), { signal });
    if (reply.status !== 200 && reply.status !== 404) throw session.refusal(reply, `read ${placeOf(name)}`);
    return entryIn(reply);
  }

  async function readOne(name: string, signal: AbortSignal): Promise<Reading> {
    const { fields } = await entryOf(name, signal);
    if (fields === null)
      return { error: `Vault has no ${placeOf(name)}; write it there, or correct the name` };
    const value = fields[field];
    if (typeof value === 'string') return readingOf(value);
    const told = Object.keys(fields).slice(0, 10).join(', ');
    return {
      error: `${placeOf(name)} has no text in the field "${field}"; its fields are: ${quoted(told, [])}`,
    };
  }

  return {
    kind: 'VAULT',
    outside: true,
    check: (signal) => session.check(signal),
    read: (names, signal) => readEach(names, signal, (name) => readOne(name, signal)),
    async write(name, value, how, signal) {
      const { fields, version } = await entryOf(name, signal);
      if (how === 'create' && fields !== null) {
        throw new BackendError(
          'exists',
          `Vault has ${placeOf(name)} already; secret.register takes it as it is`,
        );
      }
      const reply = await session.ask(pathOf(name), {
        method: 'POST',
        // The other fields of the entry stay, and what somebody else has written meanwhile is not lost.
        body: { options: { cas: version }, data: { ...fields, [field]: value } },
        signal,
      });
      if (reply.status === 400 && /check-and-set/i.test(errorsOf(reply).join())) {
        throw new BackendError(
          'exists',
          `somebody else has just written ${placeOf(name)} in Vault; look at it and try again`,
        );
      }
      if (reply.status !== 200 && reply.status !== 204)
        throw session.refusal(reply, `write ${placeOf(name)}`, [value]);
    },
    close: () => caller.close(),
  };
}

interface Entry {
  fields: Record<string, unknown> | null;
  /** 0 where there never was one. */
  version: number;
}

function entryIn({ status, body }: Reply): Entry {
  const outer = recordOf(recordOf(body)?.data);
  const version = Number(recordOf(outer?.metadata)?.version ?? 0);
  const fields = recordOf(outer?.data);
  if (status === 404) return { fields: null, version: Number.isInteger(version) ? version : 0 };
  if (!fields || !Number.isInteger(version)) {
    throw new BackendError(
      'refused',
      'Vault answers without data and version; is the mount a KV engine of version 2?',
    );
  }
  return { fields, version };
}
