/**
 * HashiCorp Vault, or OpenBao: the KV secrets engine, of version 2 or 1. A secret is one entry with its value in one field.
 */
import type { VaultConfig } from '../../../schemas/api/secret-backends.ts';
import { BackendError, quoted, type Reading, readEach, readingOf, type SecretBackend } from './backend.ts';
import { createCaller, type Reply, recordOf } from './http-call.ts';
import { createVaultSession, errorsOf, ofStore, type VaultParts } from './vault-session.ts';

type KvVersion = 1 | 2;

export function createVaultBackend(config: VaultConfig, parts: VaultParts): SecretBackend {
  const caller = createCaller(config.address, config.ca, parts.guard);
  const { mount = 'secret', field = 'value', prefix } = config;
  const session = createVaultSession(config, caller, parts);
  /** Looked for when something is not found as version 2 has it; null until then. */
  let kv: KvVersion | null = null;
  const placeOf = (name: string) =>
    [mount, ...(kv === 1 ? [] : ['data']), ...(prefix ? [prefix] : []), name].join('/');
  const pathOf = (name: string) => `/v1/${placeOf(name).split('/').map(encodeURIComponent).join('/')}`;

  /** @throws BackendError for a mount that is none, or of another engine. */
  async function look(signal: AbortSignal): Promise<KvVersion> {
    const reply = await session.mounted(mount, signal).catch((error: unknown) => {
      throw error instanceof BackendError ? ofStore(error) : error;
    });
    const data = recordOf(recordOf(reply.body)?.data);
    if (reply.status === 200 && data) {
      const type = String(data.type ?? '');
      if (type !== 'kv' && type !== 'generic')
        throw new BackendError(
          'refused',
          `Vault has an engine of the type ${quoted(type, [])} at ${mount}, and none of the type kv; give the mount of a KV engine`,
        );
      return recordOf(data.options)?.version === '2' ? 2 : 1;
    }
    if (reply.status === 403 && !/invalid token/i.test(errorsOf(reply).join()))
      throw new BackendError(
        'refused',
        `Vault has no mount ${mount}, or the policies allow nothing below it (${quoted(errorsOf(reply).join('; '), [])}); check the mount, and that a policy allows to read ${placeOf('…')}`,
      );
    throw ofStore(session.refusal(reply, `look at the mount ${mount}`));
  }

  /** Version 2 where that is not told: it is what was asked for. */
  async function isVersion1(signal: AbortSignal): Promise<boolean> {
    kv ??= await look(signal).catch((error: unknown) => {
      if (error instanceof BackendError && error.fault === 'refused') return 2 as const;
      throw error;
    });
    return kv === 1;
  }

  /** The entry with its version, which is there for a deleted one too. */
  async function entryOf(name: string, signal: AbortSignal): Promise<Entry> {
    const asked = kv;
    const reply = await session.ask(pathOf(name), { signal });
    if (reply.status === 404 && asked === null && (await isVersion1(signal))) return entryOf(name, signal);
    if (reply.status !== 200 && reply.status !== 404) throw session.refusal(reply, `read ${placeOf(name)}`);
    return kv === 1 ? plainEntryIn(reply) : entryIn(reply);
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
    async check(signal) {
      kv = await look(signal);
    },
    read: (names, signal) => readEach(names, signal, (name) => readOne(name, signal)),
    async write(name, value, how, signal) {
      const { fields, version } = await entryOf(name, signal);
      if (how === 'create' && fields !== null) {
        throw new BackendError(
          'exists',
          `Vault has ${placeOf(name)} already; secret.register takes it as it is`,
        );
      }
      // The other fields of the entry stay, and what somebody else has written meanwhile is not lost; version 1 knows no check.
      const data = { ...fields, [field]: value };
      const body = kv === 1 ? data : { options: { cas: version }, data };
      const reply = await session.ask(pathOf(name), { method: 'POST', body, signal });
      if (reply.status === 400 && /check-and-set/i.test(errorsOf(reply).join())) {
        throw new BackendError(
          'exists',
          `somebody else has just written ${placeOf(name)} in Vault; look at it and try again`,
        );
      }
      if (reply.status !== 200 && reply.status !== 204)
        throw session.refusal(reply, `write ${placeOf(name)}`, [value]);
    },
    close() {
      session.close();
      caller.close();
    },
  };
}

interface Entry {
  fields: Record<string, unknown> | null;
  /** 0 where there never was one. */
  version: number;
}

/** Of version 1: https://developer.hashicorp.com/vault/api-docs/secret/kv/kv-v1 */
function plainEntryIn({ status, body }: Reply): Entry {
  if (status === 404) return { fields: null, version: 0 };
  const fields = recordOf(recordOf(body)?.data);
  if (!fields) throw new BackendError('refused', 'Vault answers without data; is the mount a KV engine?');
  return { fields, version: 0 };
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
