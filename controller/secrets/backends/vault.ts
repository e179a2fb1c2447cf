/**
 * The KV secrets engine, version 2 or 1, of HashiCorp Vault or OpenBao. A secret is one entry with its value in one field.
 */
import type { VaultConfig } from '../../../schemas/api/secrets/secret-backends.ts';
import { BackendError, type Reading, readEach, redact, type SecretBackend } from './backend.ts';
import { createCaller, type Reply, recordOf } from './http-call.ts';
import { assertNewest, refTo, type SecretRef, scalarReading, shareRequests } from './secret-ref.ts';
import {
  asStoreFault,
  createVaultSession,
  DEFAULT_MOUNT,
  errorsOf,
  type VaultParts,
} from './vault-session.ts';

type KvVersion = 1 | 2;

const VERSION = /^[1-9]\d{0,9}$/;

const entryKey = ({ name, path, version }: SecretRef): string =>
  JSON.stringify([path === null ? name : null, path, version]);

export function createVaultBackend(config: VaultConfig, parts: VaultParts): SecretBackend {
  const { auth } = config;
  const caller = createCaller(config.address, {
    ...{ ca: config.ca, guard: parts.guard, proxies: parts.proxies },
    ...(auth.method === 'cert' ? { identity: { cert: auth.certificate, key: auth.key } } : {}),
  });
  const { mount = DEFAULT_MOUNT, field = 'value', prefix } = config;
  const session = createVaultSession(config, caller, parts);
  /** Null until an entry is not found where version 2 keeps it; then the mount is read. */
  let kv: KvVersion | null = null;
  const locationOf = ({ name, path }: SecretRef) =>
    [mount, ...(kv === 1 ? [] : ['data']), path ?? [...(prefix ? [prefix] : []), name].join('/')].join('/');
  const pathOf = (ref: SecretRef) => {
    const path = `/v1/${locationOf(ref).split('/').map(encodeURIComponent).join('/')}`;
    return ref.version === null ? path : `${path}?version=${encodeURIComponent(ref.version)}`;
  };

  /** @throws BackendError for a mount that does not exist or belongs to another engine. */
  async function readMountVersion(signal: AbortSignal): Promise<KvVersion> {
    const reply = await session.getMount(mount, signal).catch((error: unknown) => {
      throw error instanceof BackendError ? asStoreFault(error) : error;
    });
    const data = recordOf(recordOf(reply.body)?.data);
    if (reply.status === 200 && data) {
      const type = String(data.type ?? '');
      if (type !== 'kv' && type !== 'generic')
        throw new BackendError(
          'refused',
          `Vault has an engine of the type ${redact(type, [])} at ${mount}, not of the type kv; set the mount of a KV engine`,
        );
      return recordOf(data.options)?.version === '2' ? 2 : 1;
    }
    const detail = redact(errorsOf(reply).join('; '), []);
    // For a valid token Vault answers more than this: "preflight capability check returned 403".
    const mayBeToken = /^(?:\d+ errors? occurred:\s*\*\s*)?permission denied$/i.test(detail)
      ? ', or the token is wrong, has expired or was revoked'
      : '';
    if (reply.status === 403 && !/invalid token/i.test(detail))
      throw new BackendError(
        'refused',
        `Vault has no mount ${mount}, or the policies allow nothing below it${mayBeToken} (${detail}); check the mount${mayBeToken && ', the token'}, and that a policy allows reading ${locationOf(refTo('…'))}`,
      );
    throw asStoreFault(session.errorFor(reply, `read the mount ${mount}`));
  }

  /** Assumes version 2 where Vault refuses to describe the mount. */
  async function isVersion1(signal: AbortSignal): Promise<boolean> {
    kv ??= await readMountVersion(signal).catch((error: unknown) => {
      if (error instanceof BackendError && error.fault === 'refused') return 2 as const;
      throw error;
    });
    return kv === 1;
  }

  /** The entry with its version; a deleted entry has a version too. */
  async function entryOf(ref: SecretRef, signal: AbortSignal): Promise<Entry> {
    const asked = kv;
    const reply = await session.ask(pathOf(ref), { signal });
    if (reply.status === 404 && asked === null && (await isVersion1(signal))) return entryOf(ref, signal);
    if (reply.status !== 200 && reply.status !== 404)
      throw session.errorFor(reply, `read ${locationOf(ref)}`);
    return kv === 1 ? parseEntryV1(reply) : parseEntryV2(reply);
  }

  async function readOne(ref: SecretRef, entry: () => Promise<Entry>): Promise<Reading> {
    const { path, version, property } = ref;
    if (version !== null && !VERSION.test(version))
      return { error: `Vault numbers its versions, and "${version}" is not a number; correct the version` };
    if (path !== null && /^\/|\/\/|\/$/.test(path))
      return {
        error: `a path in Vault must not begin or end with / or contain //, but "${path}" does; correct the path`,
      };
    const { fields } = await entry();
    const location = locationOf(ref);
    if (version !== null && kv === 1)
      return {
        error: `${mount} is a KV engine of version 1, which has no versions; leave the version out`,
      };
    if (fields === null && version !== null)
      return { error: `Vault has no version ${version} of ${location}; correct the path or the version` };
    if (fields === null)
      return {
        error: `Vault has no ${location}; create it there, or correct the ${path === null ? 'name' : 'path'}`,
      };
    const wanted = property ?? field;
    const reading = scalarReading(Object.hasOwn(fields, wanted) ? fields[wanted] : undefined);
    if (reading !== null) return reading;
    const names = Object.keys(fields).slice(0, 10).join(', ');
    return {
      error: `${location} has no text in the field "${wanted}"; its fields are: ${redact(names, [])}`,
    };
  }

  return {
    kind: 'VAULT',
    isExternal: true,
    async check(signal) {
      kv = await readMountVersion(signal);
    },
    async read(refs, signal) {
      // Fields of one entry come from one reply, so that they belong together.
      const shared = shareRequests<Entry>();
      return readEach(refs, signal, (ref) =>
        readOne(ref, () => shared(entryKey(ref), () => entryOf(ref, signal))),
      );
    },
    async write(ref, value, how, signal) {
      assertNewest(ref);
      const { fields, version } = await entryOf(ref, signal);
      if (how === 'create' && fields !== null) {
        throw new BackendError(
          'exists',
          `Vault has ${locationOf(ref)} already; use it as it is with secret.register`,
        );
      }
      // The other fields of the entry stay. Check-and-set protects a concurrent write; version 1 does not have it.
      const data = { ...fields, [ref.property ?? field]: value };
      const body = kv === 1 ? data : { options: { cas: version }, data };
      const reply = await session.ask(pathOf(ref), { method: 'POST', body, signal });
      if (reply.status === 400 && /check-and-set/i.test(errorsOf(reply).join())) {
        throw new BackendError(
          'exists',
          `${locationOf(ref)} in Vault has just been changed by somebody else; check it and try again`,
        );
      }
      if (reply.status !== 200 && reply.status !== 204)
        throw session.errorFor(reply, `write ${locationOf(ref)}`, [value]);
    },
    close() {
      session.close();
      caller.close();
    },
  };
}

interface Entry {
  fields: Record<string, unknown> | null;
  /** 0 where the entry never existed. */
  version: number;
}

/** Version 1: https://developer.hashicorp.com/vault/api-docs/secret/kv/kv-v1 */
function parseEntryV1({ status, body }: Reply): Entry {
  if (status === 404) return { fields: null, version: 0 };
  const fields = recordOf(recordOf(body)?.data);
  if (!fields) throw new BackendError('refused', 'Vault answers without data; is the mount a KV engine?');
  return { fields, version: 0 };
}

function parseEntryV2({ status, body }: Reply): Entry {
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
