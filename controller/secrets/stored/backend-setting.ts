/** The setting of an environment's backend: validates the input, keeps stored credentials, and presents it without credentials. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { TSchema } from 'typebox';
import {
  type SecretBackend as BackendKind,
  CloudConfig,
  ExecConfig,
  type ShownBackendConfig,
  VAULT_AUTH,
  type VaultConfig,
  VaultConfigOutline,
} from '../../../schemas/api/secrets/secret-backends.ts';
import { sentences, validator } from '../../../schemas/validate.ts';
import { badRequest } from '../../platform/operation/errors.ts';
import type { BackendSetting } from '../backends/open-backend.ts';

type CertAuth = Extract<VaultConfig['auth'], { method: 'cert' }>;

const FIELD = 'secretBackendConfig';

/** @throws BAD_REQUEST that names the field. */
export function parseSetting(kind: BackendKind, config: unknown): BackendSetting {
  switch (kind) {
    case 'BUILTIN':
      throw badRequest(`${FIELD} is not allowed for BUILTIN, which needs none; leave it out`);
    case 'VAULT': {
      const outline = validate<VaultConfig>(VaultConfigOutline, config, FIELD);
      const auth = validate<VaultConfig['auth']>(
        VAULT_AUTH[outline.auth.method],
        outline.auth,
        `${FIELD}.auth`,
      );
      if (outline.ca !== undefined) assertAuthority(outline.ca);
      if (auth.method === 'cert') assertClientCertificate(outline.address, auth);
      return { kind, config: { ...outline, address: plainUrl(outline.address, 'address'), auth } };
    }
    case 'CLOUD_SM': {
      const cloud = validate<CloudConfig>(CloudConfig, config, FIELD);
      if (cloud.accessKeyId === undefined && (cloud.secretAccessKey ?? cloud.sessionToken) !== undefined)
        throw badRequest(`${FIELD}.accessKeyId is required beside secretAccessKey and sessionToken`);
      if (cloud.externalId !== undefined && cloud.roleArn === undefined)
        throw badRequest(`${FIELD}.roleArn is required beside externalId, which belongs to a role`);
      const { endpoint } = cloud;
      return {
        kind,
        config: endpoint === undefined ? cloud : { ...cloud, endpoint: plainUrl(endpoint, 'endpoint') },
      };
    }
    case 'EXEC':
      return { kind, config: validate<ExecConfig>(ExecConfig, config, FIELD) };
  }
}

function validate<T>(schema: TSchema, value: unknown, at: string): T {
  const path = `/${at.replaceAll('.', '/')}`;
  const issues = validator(schema)
    .issues(value)
    .map((issue) => ({ ...issue, path: `${path}${issue.path}` }));
  if (issues.length > 0) throw badRequest(sentences(issues), { issues });
  return value as T;
}

/** Rejects user, query and fragment: a user would be a credential in plain text. */
function plainUrl(text: string, field: string): string {
  const url = URL.parse(text);
  if (!url || url.username || url.password || url.search || url.hash) {
    throw badRequest(
      `${FIELD}.${field} must be like https://vault.example.com:8200, without user, query and fragment`,
    );
  }
  return url.href.replace(/\/+$/, '');
}

function assertAuthority(pem: string): void {
  try {
    new X509Certificate(pem);
  } catch {
    throw badRequest(`${FIELD}.ca is not a certificate in PEM form`);
  }
}

/** The key is checked where it is given; a stored key was checked before. */
function assertClientCertificate(address: string, auth: CertAuth): void {
  if (!address.startsWith('https:'))
    throw badRequest(`${FIELD}.address must begin with https:// for a login with a certificate`);
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate(auth.certificate);
  } catch {
    throw badRequest(`${FIELD}.auth.certificate is not a certificate in PEM form`);
  }
  if (auth.key === undefined) return;
  let belongs: boolean;
  try {
    belongs = certificate.checkPrivateKey(createPrivateKey(auth.key));
  } catch {
    throw badRequest(`${FIELD}.auth.key is not a private key in PEM form without a passphrase`);
  }
  if (!belongs) throw badRequest(`${FIELD}.auth.key does not belong to the certificate`);
}

/**
 * Fills in omitted credentials from the stored setting, but only for the same target: a user who may set an address must
 * not get the stored credentials sent to their own server.
 */
export function withStoredCredentials(next: BackendSetting, before: BackendSetting | null): BackendSetting {
  if (next.kind === 'VAULT') {
    const stored = before?.kind === 'VAULT' ? before.config : null;
    const auth = vaultAuth(next.config, stored);
    if (auth.method === 'token' && auth.token === undefined)
      throw badRequest(`${FIELD}.auth.token is required${notReused(stored !== null)}`);
    if (auth.method === 'jwt' && auth.jwt === undefined)
      throw badRequest(`${FIELD}.auth.jwt is required${notReused(stored !== null)}`);
    if (auth.method === 'cert' && auth.key === undefined)
      throw badRequest(`${FIELD}.auth.key is required${notReused(stored !== null)}`);
    if (auth.method === 'aws' && auth.secretAccessKey === undefined)
      throw badRequest(`${FIELD}.auth.secretAccessKey is required${notReused(stored !== null)}`);
    return { kind: 'VAULT', config: { ...next.config, auth } };
  }
  if (next.kind === 'CLOUD_SM') {
    const stored = before?.kind === 'CLOUD_SM' ? before.config : null;
    const { config } = next;
    if (config.accessKeyId === undefined || config.secretAccessKey !== undefined) return next;
    const same = stored?.accessKeyId === config.accessKeyId && stored.endpoint === config.endpoint;
    if (!same || stored.secretAccessKey === undefined)
      throw badRequest(`${FIELD}.secretAccessKey is required${notReused(stored !== null)}`);
    const sessionToken = config.sessionToken ?? stored.sessionToken;
    return {
      kind: 'CLOUD_SM',
      config: {
        ...config,
        secretAccessKey: stored.secretAccessKey,
        ...(sessionToken === undefined ? {} : { sessionToken }),
      },
    };
  }
  return next;
}

const notReused = (stored: boolean): string =>
  stored ? ': the stored one belongs to another target and is not sent to this one' : '';

function vaultAuth(next: VaultConfig, stored: VaultConfig | null): VaultConfig['auth'] {
  const { auth } = next;
  if (!stored || stored.address !== next.address || stored.ca !== next.ca) return auth;
  if (auth.method === 'token' && stored.auth.method === 'token') return { ...stored.auth, ...auth };
  if (auth.method === 'jwt' && stored.auth.method === 'jwt') {
    const { jwt, mount: earlier } = stored.auth;
    return jwt !== undefined && earlier === auth.mount ? { jwt, ...auth } : auth;
  }
  if (auth.method === 'cert' && stored.auth.method === 'cert') {
    const { key, certificate } = stored.auth;
    return key !== undefined && certificate === auth.certificate ? { key, ...auth } : auth;
  }
  if (auth.method === 'aws' && stored.auth.method === 'aws') {
    const { accessKeyId, secretAccessKey, sessionToken, mount: earlier } = stored.auth;
    const isSame = accessKeyId === auth.accessKeyId && earlier === auth.mount;
    if (!isSame || secretAccessKey === undefined || auth.secretAccessKey !== undefined) return auth;
    return { secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }), ...auth };
  }
  if (auth.method !== 'approle' || stored.auth.method !== 'approle') return auth;
  const { roleId, mount, secretId } = stored.auth;
  const same = roleId === auth.roleId && mount === auth.mount && secretId !== undefined;
  return same ? { secretId, ...auth } : auth;
}

/** True where the store is read with the controller's own identity, which may have more access than the environment's team. */
export function usesOwnIdentity(setting: BackendSetting): boolean {
  switch (setting.kind) {
    case 'VAULT':
      return setting.config.auth.method === 'kubernetes';
    case 'CLOUD_SM':
      return setting.config.accessKeyId === undefined;
    default:
      return false;
  }
}

/**
 * The prefix that a super admin has opened to the team in a store that is read with the controller's identity; empty where
 * nothing is open, null where the store is read with the team's own credentials.
 */
export function ownPrefixOf(setting: BackendSetting): string | null {
  if (!usesOwnIdentity(setting) || !('config' in setting) || !('prefix' in setting.config))
    return usesOwnIdentity(setting) ? '' : null;
  const { prefix = '' } = setting.config;
  return setting.kind === 'VAULT' && prefix !== '' ? `${prefix}/` : prefix;
}

export const isWithinOwnPrefix = (path: string, ownPrefix: string): boolean =>
  ownPrefix !== '' && path.startsWith(ownPrefix);

/** Replaces each credential by whether it is set. */
export function presentSetting(setting: BackendSetting): ShownBackendConfig | null {
  switch (setting.kind) {
    case 'BUILTIN':
      return null;
    case 'VAULT': {
      const { auth, ...rest } = setting.config;
      switch (auth.method) {
        case 'token':
          return { ...rest, auth: { method: auth.method, hasToken: auth.token !== undefined } };
        case 'approle': {
          const { secretId, ...role } = auth;
          return { ...rest, auth: { ...role, hasSecretId: secretId !== undefined } };
        }
        case 'kubernetes':
          return { ...rest, auth };
        case 'jwt': {
          const { jwt, ...role } = auth;
          return { ...rest, auth: { ...role, hasJwt: jwt !== undefined } };
        }
        case 'cert': {
          const { key, ...role } = auth;
          return { ...rest, auth: { ...role, hasKey: key !== undefined } };
        }
        case 'aws': {
          const { secretAccessKey, sessionToken, ...role } = auth;
          const has = {
            hasSecretAccessKey: secretAccessKey !== undefined,
            hasSessionToken: sessionToken !== undefined,
          };
          return { ...rest, auth: { ...role, ...has } };
        }
      }
      break;
    }
    case 'CLOUD_SM': {
      const { secretAccessKey, sessionToken, ...rest } = setting.config;
      return {
        ...rest,
        hasSecretAccessKey: secretAccessKey !== undefined,
        hasSessionToken: sessionToken !== undefined,
      };
    }
    case 'EXEC':
      return setting.config;
  }
}
