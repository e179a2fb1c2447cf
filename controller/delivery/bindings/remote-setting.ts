/** Where a binding's repository is and how it lets us in: what may come in, what stays as it was, what may be shown. */
import { X509Certificate } from 'node:crypto';
import type { Static } from 'typebox';
import type { ConfigureGitSync, GitCredentials, ShownGitCredentials } from '../../../schemas/api/git-sync.ts';
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
  /** `embedded`, or an address in normal form. */
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
 * What a binding is to have after `input`. What was left out stays, but only towards the very server that it was given for.
 * @throws BAD_REQUEST that names the field and says what to give.
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
  const kept = before && isFor(before, address) ? before : EMBEDDED;
  const knownHosts = knownHostsOf(address, input.knownHosts, kept.knownHosts);
  const forWeb =
    address.transport === 'https' || (address.transport === 'ssh' && willHaveForge(input, before));
  const caCertificate = caOf(forWeb, input.caCertificate, kept.caCertificate);
  const { credentials } = input;
  if (credentials?.type === 'app') {
    inField('credentials', () => assertFits(credentials, address));
    // What git is let in by is known with the forge.
    const { sealedCredentials } = kept;
    return { repositoryUrl: address.url, sealedCredentials, knownHosts, caCertificate };
  }
  if (credentials === undefined && kept.sealedCredentials !== null)
    return {
      repositoryUrl: address.url,
      sealedCredentials: kept.sealedCredentials,
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
    const told =
      error instanceof AddressError || error instanceof CredentialsError || error instanceof SshKeyError;
    throw told ? badRequest(`${field}: ${error.message}`) : error;
  }
}

const HOST_KEY =
  /^(?:@cert-authority\s+)?[^\s@#]\S*\s+(?:ssh-|ecdsa-|sk-)[\w.@-]+\s+[A-Za-z0-9+/]+=*(?:\s.*)?$/;

function knownHostsOf(
  { transport, host, port }: RemoteAddress,
  given: string | null | undefined,
  kept: string | null,
): string | null {
  if (transport !== 'ssh') {
    if (typeof given === 'string') throw badRequest('knownHosts is for ssh addresses; leave it out');
    return null;
  }
  const text = (given === undefined ? kept : given)?.replaceAll('\r\n', '\n').trim() ?? '';
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'));
  const scan = `ssh-keyscan ${port === 22 ? '' : `-p ${port} `}${host}`;
  if (lines.length === 0) {
    throw badRequest(
      `knownHosts is required for an ssh address: nothing else tells that ${host} is who it says. Give what \`${scan}\` prints, after comparing it with what the server's owner publishes`,
    );
  }
  const bad = lines.findIndex((line) => /[^\x20-\x7e\t]/.test(line) || !HOST_KEY.test(line.trim()));
  if (bad >= 0)
    throw badRequest(`knownHosts: line ${bad + 1} is no host key; give the lines that \`${scan}\` prints`);
  return text;
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

/** `forWeb`: something is asked by HTTPS, be it the repository or its forge. */
function caOf(forWeb: boolean, given: string | null | undefined, kept: string | null): string | null {
  if (!forWeb) {
    if (typeof given === 'string') throw badRequest('caCertificate is for https addresses; leave it out');
    return null;
  }
  if (given === undefined) return kept;
  if (given === null) return null;
  if (/PRIVATE KEY/.test(given))
    throw badRequest('caCertificate holds a private key; give the certificate of the authority alone');
  const blocks = given.match(CERTIFICATE) ?? [];
  const rest = given.replaceAll(CERTIFICATE, '');
  if (blocks.length === 0 || rest.includes('-----') || !blocks.every(isCertificate))
    throw badRequest('caCertificate is no certificate in PEM form (-----BEGIN CERTIFICATE-----)');
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

/** Null for the embedded repository, and where no key opens them: then the last error tells. */
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

/** For the audit log: what changed, never to what. */
export function remoteDiff(before: RemoteColumns | null, after: RemoteColumns): Record<string, unknown> {
  const changed = (field: 'sealedCredentials' | 'knownHosts' | 'caCertificate') =>
    (before?.[field] ?? null) !== after[field];
  const word = (value: string | null | undefined) => (value ? 'set' : null);
  const entry = (field: Parameters<typeof changed>[0]) =>
    changed(field) ? [word(before?.[field]), after[field] ? 'changed' : null] : undefined;
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

/** Where a `POST` wakes the loop. */
/** The Git page of an environment in the UI. */
export const gitPageUrl = (baseUrl: string, environmentId: string): string =>
  `${baseUrl}/e/${encodeURIComponent(environmentId)}/git`;

export const webhookUrlOf = (baseUrl: string, binding: Binding): string | null =>
  binding.repositoryUrl === 'embedded' ? null : `${baseUrl}/api/git/webhook/${binding.id}`;
