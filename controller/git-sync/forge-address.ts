/**
 * Where a forge's API is and which project is meant: as given, or as the address of the repository tells. The paths of the
 * APIs are those that their makers document: GitHub Enterprise Server /api/v3, GitLab /api/v4, Gitea and Forgejo /api/v1.
 */

import type { RemoteAddress } from '../repository/index.ts';
import type { ForgeChoice } from './store.ts';

export type KnownForge = Exclude<ForgeChoice, 'none'>;

export interface ForgePlace {
  /** Without a slash at its end. */
  url: string;
  /** `owner/name`; of GitLab with all groups. */
  project: string;
}

/** The message begins with the field and says what to write instead. */
export class ForgeAddressError extends Error {
  override readonly name = 'ForgeAddressError';
}

const API_PATH: Readonly<Record<KnownForge, string>> = {
  github: '/api/v3',
  gitlab: '/api/v4',
  gitea: '/api/v1',
  bitbucket: '/2.0',
};

/** Hosts that are served by others than themselves. */
const ELSEWHERE: Readonly<Partial<Record<KnownForge, Readonly<Record<string, string>>>>> = {
  github: {
    'github.com': 'https://api.github.com',
    'www.github.com': 'https://api.github.com',
    'ssh.github.com': 'https://api.github.com',
    'api.github.com': 'https://api.github.com',
  },
  gitlab: { 'altssh.gitlab.com': 'https://gitlab.com/api/v4' },
  bitbucket: {
    'bitbucket.org': 'https://api.bitbucket.org/2.0',
    'altssh.bitbucket.org': 'https://api.bitbucket.org/2.0',
    'api.bitbucket.org': 'https://api.bitbucket.org/2.0',
  },
};

const bracketed = (host: string) => (host.includes(':') ? `[${host}]` : host);

/** What the address of a repository tells; null where it tells nothing. */
export function derivedPlace(
  name: KnownForge,
  remote: RemoteAddress,
): { url: string | null; project: string | null } {
  return { url: derivedUrl(name, remote), project: derivedProject(name, remote) };
}

function derivedUrl(name: KnownForge, { transport, host, port }: RemoteAddress): string | null {
  const known = ELSEWHERE[name]?.[host];
  if (known) return known;
  if (name === 'bitbucket') return null;
  if (name === 'github' && host.endsWith('.ghe.com')) return `https://api.${host.replace(/^api\./, '')}`;
  const usual = transport === 'http' ? 80 : 443;
  const at = transport === 'ssh' || port === usual ? '' : `:${port}`;
  return `${transport === 'http' ? 'http' : 'https'}://${bracketed(host)}${at}${API_PATH[name]}`;
}

/** Of `https://host/a/b.git`, `ssh://git@host:2222/a/b` and `git@host:a/b.git` alike. */
function derivedProject(name: KnownForge, { url }: RemoteAddress): string | null {
  const path =
    /^[a-z]+:\/\/[^/]*\/(.*)$/.exec(url)?.[1] ?? /^[^/@]+@(?:\[[^\]]*\]|[^:]*):(.*)$/.exec(url)?.[1];
  return path === undefined ? null : readProject(name, plain(path));
}

function plain(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

const SEGMENT = /^[\w.-][\w.~+-]*$/;

function readProject(name: KnownForge, text: string): string | null {
  const parts = text
    .replace(/^\/+|\/+$/g, '')
    .replace(/\.git$/, '')
    .split('/');
  const fits = name === 'gitlab' ? parts.length >= 2 && parts.length <= 21 : parts.length === 2;
  const fine = parts.every((part) => SEGMENT.test(part) && part !== '.' && part !== '..');
  return fits && fine ? parts.join('/') : null;
}

/** @throws ForgeAddressError */
export function forgePlace(
  name: KnownForge,
  given: { url?: string | undefined; project?: string | undefined },
  remote: RemoteAddress,
): ForgePlace {
  const derived = derivedPlace(name, remote);
  const url = given.url === undefined ? derived.url : readForgeUrl(name, given.url, remote);
  if (url === null)
    throw new ForgeAddressError(
      `forge.url: ${remote.host} is not bitbucket.org, and Bitbucket Data Center is not spoken here; bind the repository of bitbucket.org, or choose "none": pull requests are kept here then`,
    );
  const project = given.project === undefined ? derived.project : readProject(name, given.project);
  if (project === null)
    throw new ForgeAddressError(
      `forge.project: ${given.project === undefined ? 'the address of the repository does not tell it' : 'this is none'}; write ${name === 'gitlab' ? 'group/name, with all groups' : 'owner/name'}`,
    );
  return { url, project };
}

function readForgeUrl(name: KnownForge, text: string, remote: RemoteAddress): string {
  const example = `write something like ${derivedUrl(name, remote) ?? 'https://api.bitbucket.org/2.0'}`;
  const refuse = (why: string) => new ForgeAddressError(`forge.url: ${why}; ${example}`);
  const url = /[^\x21-\x7e]/.test(text) ? null : URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || url.hostname === '')
    throw refuse('this is not an http(s) address');
  if (url.username || url.password) throw refuse('the token does not belong into the address');
  if (url.search || url.hash || text.includes('?') || text.includes('#'))
    throw refuse('the address of an API has no ? and no #');
  if (url.protocol === 'http:' && remote.transport !== 'http')
    throw refuse('the token would travel in the clear by http://, which the repository does not');
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const known = ELSEWHERE[name]?.[host];
  if (known) return known;
  const path = url.pathname.replace(/\/+$/, '');
  const isApi =
    name === 'github' ? path.endsWith('/api/v3') || /^api\./.test(host) : path.endsWith(API_PATH[name]);
  return `${url.protocol}//${url.host}${path}${isApi ? '' : API_PATH[name]}`;
}
