/** The repository of a binding and its credentials: the columns to store for an input, and what may be shown of them. */
import { X509Certificate } from 'node:crypto';
import type { Static } from 'typebox';
import type { GitCredentials, ShownGitCredentials } from '../../../schemas/api/delivery/forges.ts';
import type { ConfigureGitSync } from '../../../schemas/api/delivery/git-sync.ts';
import { KeyringError } from '../../platform/crypto/keyring.ts';
import type { Context } from '../../platform/operation/context.ts';
import { badRequest } from '../../platform/operation/errors.ts';
import {
  AddressError,
  assertFits,
  CredentialsError,
  isSameAddress,
  openCredentials,
  presentCredentials,
  type RemoteAddress,
  readAddress,
  SshKeyError,
  sealCredentials,
} from '../repository/index.ts';
import { assertTarget } from './assert-target.ts';
import { willHaveForge } from './forge/forge-setting.ts';
import type { Binding } from './store.ts';

export interface RemoteColumns {
  /** `embedded`, or a normalized address. */
  repositoryUrl: string;
  sealedCredentials: string | null;
  knownHosts: string | null;
  caCertificate: string | null;
}

const EMBEDDED: RemoteColumns = {
  repositoryUrl: 'embedded',
  sealedCredentials: null,
  knownHosts: null,
  caCertificate: null,
};

/**
 * The columns after `input`. Omitted values stay, but only for the server that they were given for.
 * @throws BAD_REQUEST that names the field and what to give
 */
export function remoteOf(
  { keyring, targetGuard }: Context['services'],
  bindingId: string,
  input: ConfigureGitSync,
  before: Binding | null,
): RemoteColumns {
  const given = input.repositoryUrl ?? before?.repositoryUrl ?? 'embedded';
  if (given === 'embedded') {
    for (const field of ['knownHosts', 'caCertificate'] as const)
      if (typeof input[field] === 'string') throw badRequest(`${field}: ${NOT_FOR_EMBEDDED}`);
    if (input.credentials && input.credentials.type !== 'none')
      throw badRequest(`credentials: ${NOT_FOR_EMBEDDED}`);
    return EMBEDDED;
  }
  const address = inField('repositoryUrl', () => readAddress(given));
  if (address.url !== before?.repositoryUrl) assertTarget({ targetGuard }, 'repositoryUrl', address.host);
  const previous = before && isFor(before, address) ? before : EMBEDDED;
  const knownHosts = knownHostsOf(address, input.knownHosts, previous.knownHosts);
  const forWeb =
    address.transport === 'https' || (address.transport === 'ssh' && willHaveForge(input, before));
  const caCertificate = caOf(forWeb, input.caCertificate, previous.caCertificate);
  const { credentials } = input;
  if (credentials?.type === 'app') {
    inField('credentials', () => assertFits(credentials, address));
    // `forgeOf` decides about the app.
    const { sealedCredentials } = previous;
    return { repositoryUrl: address.url, sealedCredentials, knownHosts, caCertificate };
  }
  if (credentials === undefined && previous.sealedCredentials !== null)
    return {
      repositoryUrl: address.url,
      sealedCredentials: previous.sealedCredentials,
      knownHosts,
      caCertificate,
    };
  const used: Exclude<GitCredentials, { type: 'app' }> = credentials ?? { type: 'none' };
  inField('credentials', () => assertFits(used, address));
  const sealedCredentials = sealCredentials(keyring, bindingId, used);
  return { repositoryUrl: address.url, sealedCredentials, knownHosts, caCertificate };
}

const NOT_FOR_EMBEDDED = 'the repository that Headgate serves itself needs none; leave it out';

function isFor(before: Binding, address: RemoteAddress): boolean {
  if (before.repositoryUrl === 'embedded') return false;
  try {
    return isSameAddress(readAddress(before.repositoryUrl), address);
  } catch (error) {
    if (error instanceof AddressError) return false;
    throw error;
  }
}

function inField<T>(field: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    const isExplained =
      error instanceof AddressError || error instanceof CredentialsError || error instanceof SshKeyError;
    throw isExplained ? badRequest(`${field}: ${error.message}`) : error;
  }
}

const HOST_KEY =
  /^(?:@cert-authority\s+)?[^\s@#]\S*\s+(?:ssh-|ecdsa-|sk-)[\w.@-]+\s+[A-Za-z0-9+/]+=*(?:\s.*)?$/;

function knownHostsOf(
  { transport, host, port }: RemoteAddress,
  given: string | null | undefined,
  previous: string | null,
): string | null {
  if (transport !== 'ssh') {
    if (typeof given === 'string') throw badRequest('knownHosts is for ssh addresses; leave it out');
    return null;
  }
  const text = (given === undefined ? previous : given)?.replaceAll('\r\n', '\n').trim() ?? '';
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'));
  const scan = `ssh-keyscan ${port === 22 ? '' : `-p ${port} `}${host}`;
  if (lines.length === 0) {
    throw badRequest(
      `knownHosts is required for an ssh address: nothing else proves the identity of ${host}. Give the output of \`${scan}\`, after comparing it with the keys that the server's owner publishes`,
    );
  }
  const bad = lines.findIndex((line) => /[^\x20-\x7e\t]/.test(line) || !HOST_KEY.test(line.trim()));
  if (bad >= 0)
    throw badRequest(`knownHosts: line ${bad + 1} is not a host key; give the lines that \`${scan}\` prints`);
  return text;
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

/** `forWeb`: the repository or its forge is reached by HTTPS. */
function caOf(forWeb: boolean, given: string | null | undefined, previous: string | null): string | null {
  if (!forWeb) {
    if (typeof given === 'string') throw badRequest('caCertificate is for https addresses; leave it out');
    return null;
  }
  if (given === undefined) return previous;
  if (given === null) return null;
  if (/PRIVATE KEY/.test(given))
    throw badRequest('caCertificate holds a private key; give the certificate of the authority alone');
  const blocks = given.match(CERTIFICATE) ?? [];
  const rest = given.replaceAll(CERTIFICATE, '');
  if (blocks.length === 0 || rest.includes('-----') || !blocks.every(isCertificate))
    throw badRequest('caCertificate is not a certificate in PEM form (-----BEGIN CERTIFICATE-----)');
  return `${blocks.join('\n')}\n`;
}

function isCertificate(pem: string): boolean {
  try {
    new X509Certificate(pem);
    return true;
  } catch {
    return false;
  }
}

/** Null for the embedded repository, and when no key opens the credentials: `lastError` of the binding reports that. */
export function presentRemote(
  { keyring }: Context['services'],
  binding: Binding,
): Static<typeof ShownGitCredentials> | null {
  if (binding.repositoryUrl === 'embedded') return null;
  try {
    return presentCredentials(openCredentials(keyring, binding));
  } catch (error) {
    if (error instanceof KeyringError) return null;
    throw error;
  }
}

/** For the audit log: which values changed, never their content. */
export function remoteDiff(before: RemoteColumns | null, after: RemoteColumns): Record<string, unknown> {
  const changed = (field: 'sealedCredentials' | 'knownHosts' | 'caCertificate') =>
    (before?.[field] ?? null) !== after[field];
  const presence = (value: string | null | undefined) => (value ? 'set' : null);
  const entry = (field: Parameters<typeof changed>[0]) =>
    changed(field) ? [presence(before?.[field]), after[field] ? 'changed' : null] : undefined;
  return Object.fromEntries(
    Object.entries({
      repositoryUrl:
        before?.repositoryUrl === after.repositoryUrl
          ? undefined
          : [before?.repositoryUrl ?? null, after.repositoryUrl],
      credentials: entry('sealedCredentials'),
      knownHosts: entry('knownHosts'),
      caCertificate: entry('caCertificate'),
    }).filter(([, value]) => value !== undefined),
  );
}

/** The Git page of an environment in the UI. */
export const gitPageUrl = (baseUrl: string, environmentId: string): string =>
  `${baseUrl}/e/${encodeURIComponent(environmentId)}/git`;

export const webhookUrlOf = (baseUrl: string, binding: Binding): string | null =>
  binding.repositoryUrl === 'embedded' ? null : `${baseUrl}/api/git/webhook/${binding.id}`;
