/** The binding while it is written: texts of fields, and what they come to. */

import type { GitCredentials } from '../../../../../schemas/api/delivery/forges.ts';
import type { ConfigureGitSync, GitSyncStatus } from '../../../../../schemas/api/delivery/git-sync.ts';

export type Access = 'keep' | GitCredentials['type'];

export interface BindingDraft {
  mode: GitSyncStatus['mode'];
  where: 'embedded' | 'remote';
  url: string;
  branch: string;
  path: string;
  /** One a line. */
  sharedPaths: string;
  /** Seconds. */
  interval: string;
  access: Access;
  username: string;
  password: string;
  privateKey: string;
  knownHosts: string;
  ca: string;
}

/** Where an environment's manifests lie unless somebody says otherwise. */
export const folderOf = (environmentName: string): string =>
  `environments/${environmentName.toLowerCase().replaceAll(' ', '-')}`;

export function bindingDraft(status: GitSyncStatus): BindingDraft {
  const remote = status.repositoryUrl !== null && status.repositoryUrl !== 'embedded';
  return {
    mode: status.configured && status.mode !== 'off' ? status.mode : 'sync',
    where: remote ? 'remote' : 'embedded',
    url: remote ? (status.repositoryUrl ?? '') : '',
    branch: status.branch ?? 'main',
    path: status.configured ? (status.path ?? '') : folderOf(status.environmentName),
    sharedPaths: (status.configured ? status.sharedPaths : ['shared', 'tests']).join('\n'),
    interval: String(status.intervalSeconds ?? 60),
    access: status.credentials && status.credentials.type !== 'none' ? 'keep' : 'none',
    username: '',
    password: '',
    privateKey: '',
    knownHosts: status.knownHosts ?? '',
    ca: status.caCertificate ?? '',
  };
}

/** `user@host:path`, which no other address looks like. */
const SCP_LIKE = /^[^\s/:@]+@([^\s/:]+):/;

/** The server that an address names; empty while it names none. */
export function hostOf(url: string): string {
  const scp = SCP_LIKE.exec(url.trim());
  if (scp) return scp[1] ?? '';
  return URL.canParse(url.trim()) ? new URL(url.trim()).host : '';
}

export const isSsh = (url: string): boolean => /^ssh:/i.test(url.trim()) || SCP_LIKE.test(url.trim());
export const isHttps = (url: string): boolean => /^https:/i.test(url.trim());

/** Credentials are for one server: another server needs new ones. */
export const mayKeep = (draft: BindingDraft, status: GitSyncStatus): boolean =>
  status.credentials !== null &&
  status.credentials.type !== 'none' &&
  hostOf(draft.url) === hostOf(status.repositoryUrl ?? '') &&
  isSsh(draft.url) === isSsh(status.repositoryUrl ?? '');

/** How the server lets us in, once the choice fits the address. */
export function accessOf(draft: BindingDraft, status: GitSyncStatus): Access {
  if (draft.access === 'keep') return mayKeep(draft, status) ? 'keep' : isSsh(draft.url) ? 'ssh' : 'none';
  if (isSsh(draft.url)) return 'ssh';
  return draft.access === 'ssh' ? 'none' : draft.access;
}

/** The first thing that is missing or wrong, in a sentence; empty when all is there. */
export function problemOfDraft(draft: BindingDraft, status: GitSyncStatus): string {
  const seconds = Number(draft.interval);
  if (!Number.isInteger(seconds) || seconds < 5 || seconds > 86_400)
    return 'The interval is a whole number of seconds, from 5 to 86,400.';
  if (draft.branch.trim() === '') return 'Name a branch.';
  if (draft.where === 'embedded') return '';
  if (hostOf(draft.url) === '')
    return 'Give the repository’s address: https://host/path, ssh://user@host/path or user@host:path.';
  const access = accessOf(draft, status);
  if (access === 'basic' && (draft.username === '' || draft.password === ''))
    return 'Give the user name and the password or token.';
  if (access === 'ssh' && draft.privateKey.trim() === '') return 'Give the private key.';
  if (isSsh(draft.url) && draft.knownHosts.trim() === '')
    return 'Give the server’s host key: nothing else tells that the server is the right one.';
  return '';
}

export function configureInput(draft: BindingDraft, status: GitSyncStatus): ConfigureGitSync {
  const given = {
    environmentId: status.environmentId,
    mode: draft.mode,
    branch: draft.branch.trim(),
    path: draft.path.trim(),
    sharedPaths: draft.sharedPaths
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== ''),
    intervalSeconds: Number(draft.interval),
  };
  if (draft.where === 'embedded') return { ...given, repositoryUrl: 'embedded' };
  const { url } = draft;
  const credentials = credentialsOf(draft, accessOf(draft, status));
  return {
    ...given,
    repositoryUrl: url.trim(),
    ...(credentials ? { credentials } : {}),
    ...(isSsh(url) ? { knownHosts: draft.knownHosts.trim() || null } : {}),
    ...(isHttps(url) ? { caCertificate: draft.ca.trim() || null } : {}),
  };
}

function credentialsOf(draft: BindingDraft, access: Access): GitCredentials | null {
  switch (access) {
    case 'keep':
      return null;
    case 'none':
      return { type: 'none' };
    case 'app':
      return { type: 'app' };
    case 'basic':
      return { type: 'basic', username: draft.username, password: draft.password };
    case 'ssh':
      return { type: 'ssh', privateKey: draft.privateKey };
  }
}
