/**
 * HashiCorp Vault, or OpenBao: the KV secrets engine, of version 2 or 1. A secret is one entry with its value in one field.
 */
import type { VaultConfig } from '../../../schemas/api/secret-backends.ts';
import { BackendError, quoted, type Reading, readEach, type SecretBackend } from './backend.ts';
import { createCaller, type Reply, recordOf } from './http-call.ts';
import { assertNewest, refTo, type SecretRef, scalarReading, uniqueRefs } from './secret-ref.ts';
import { createVaultSession, DEFAULT_MOUNT, errorsOf, ofStore, type VaultParts } from './vault-session.ts';

type KvVersion = 1 | 2;

const VERSION = /^[1-9]\d{0,9}$/;

const keyOf = ({ name, path, version }: SecretRef): string =>
  JSON.stringify([path === null ? name : null, path, version]);

export function createVaultBackend(config: VaultConfig, parts: VaultParts): SecretBackend {
  const { auth } = config;
  const caller = createCaller(config.address, {
    ...{ ca: config.ca, guard: parts.guard, proxies: parts.proxies },
    ...(auth.method === 'cert' ? { identity: { cert: auth.certificate, key: auth.key } } : {}),
  });
  const { mount = DEFAULT_MOUNT, field = 'value', prefix } = config;
  const session = createVaultSession(config, caller, parts);
  /** Looked for when something is not found as version 2 has it; null until then. */
  let kv: KvVersion | null = null;
  const placeOf = ({ name, path }: SecretRef) =>
    [mount, ...(kv === 1 ? [] : ['data']), path ?? [...(prefix ? [prefix] : []), name].join('/')].join('/');
  const pathOf = (ref: SecretRef) => {
    const path = `/v1/${placeOf(ref).split('/').map(encodeURIComponent).join('/')}`;
    return ref.version === null ? path : `${path}?version=${encodeURIComponent(ref.version)}`;
  };

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
    const said = quoted(errorsOf(reply).join('; '), []);
    // Of a good token it says more than that: "preflight capability check returned 403".
    const mayBeToken = /^(?:\d+ errors? occurred:\s*\*\s*)?permission denied$/i.test(said)
      ? ', or the token is wrong, has expired or was revoked'
      : '';
    if (reply.status === 403 && !/invalid token/i.test(said))
      throw new BackendError(
        'refused',
        `Vault has no mount ${mount}, or the policies allow nothing below it${mayBeToken} (${said}); check the mount${mayBeToken && ', the token'}, and that a policy allows to read ${placeOf(refTo('…'))}`,
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
  async function entryOf(ref: SecretRef, signal: AbortSignal): Promise<Entry> {
    const asked = kv;
    const reply = await session.ask(pathOf(ref), { signal });
    if (reply.status === 404 && asked === null && (await isVersion1(signal))) return entryOf(ref, signal);
    if (reply.status !== 200 && reply.status !== 404) throw session.refusal(reply, `read ${placeOf(ref)}`);
    return kv === 1 ? plainEntryIn(reply) : entryIn(reply);
  }

  async function readOne(ref: SecretRef, entry: () => Promise<Entry>): Promise<Reading> {
    const { path, version, property } = ref;
    if (version !== null && !VERSION.test(version))
      return { error: `Vault numbers its versions, and "${version}" is no number; correct the version` };
    if (path !== null && /^\/|\/\/|\/$/.test(path))
      return {
        error: `a path of Vault begins and ends without / and has no two in a row, which "${path}" does not; correct the path`,
      };
    const { fields } = await entry();
    const place = placeOf(ref);
    if (version !== null && kv === 1)
      return {
        error: `${mount} is a KV engine of version 1, which keeps no versions; leave the version out`,
      };
    if (fields === null && version !== null)
      return { error: `Vault has no version ${version} of ${place}; correct the path or the version` };
    if (fields === null)
      return {
        error: `Vault has no ${place}; write it there, or correct the ${path === null ? 'name' : 'path'}`,
      };
    const wanted = property ?? field;
    const reading = scalarReading(Object.hasOwn(fields, wanted) ? fields[wanted] : undefined);
    if (reading !== null) return reading;
    const told = Object.keys(fields).slice(0, 10).join(', ');
    return {
      error: `${place} has no text in the field "${wanted}"; its fields are: ${quoted(told, [])}`,
    };
  }

  return {
    kind: 'VAULT',
    outside: true,
    async check(signal) {
      kv = await look(signal);
    },
    async read(refs, signal) {
      // Fields of one entry come from one answer, and belong together.
      const once = uniqueRefs<Entry>();
      return readEach(refs, signal, (ref) =>
        readOne(ref, () => once(keyOf(ref), () => entryOf(ref, signal))),
      );
    },
    async write(ref, value, how, signal) {
      assertNewest(ref);
      const { fields, version } = await entryOf(ref, signal);
      if (how === 'create' && fields !== null) {
        throw new BackendError(
          'exists',
          `Vault has ${placeOf(ref)} already; secret.register takes it as it is`,
        );
      }
      // The other fields of the entry stay, and what somebody else has written meanwhile is not lost; version 1 knows no check.
      const data = { ...fields, [ref.property ?? field]: value };
      const body = kv === 1 ? data : { options: { cas: version }, data };
      const reply = await session.ask(pathOf(ref), { method: 'POST', body, signal });
      if (reply.status === 400 && /check-and-set/i.test(errorsOf(reply).join())) {
        throw new BackendError(
          'exists',
          `somebody else has just written ${placeOf(ref)} in Vault; look at it and try again`,
        );
      }
      if (reply.status !== 200 && reply.status !== 204)
        throw session.refusal(reply, `write ${placeOf(ref)}`, [value]);
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
