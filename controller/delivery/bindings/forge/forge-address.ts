/**
 * The API endpoint and the project of a forge: as given, or derived from the address of the repository. The vendors document
 * these paths: GitHub Enterprise Server /api/v3, GitLab /api/v4, Gitea and Forgejo /api/v1, Bitbucket Data Center
 * /rest/api/1.0 below its context path. Azure DevOps has its own API below each organization or collection.
 */

import type { RemoteAddress } from '../../repository/index.ts';
import type { ForgeChoice } from '../store.ts';

export type KnownForge = Exclude<ForgeChoice, 'none'>;

export interface ForgeEndpoint {
  /** Without a slash at its end. */
  url: string;
  /** `owner/name`; for GitLab with all groups. */
  project: string;
}

/** The message begins with the field and names what to write instead. */
export class ForgeAddressError extends Error {
  override readonly name = 'ForgeAddressError';
}

const API_PATH: Readonly<Record<KnownForge, string>> = {
  github: '/api/v3',
  gitlab: '/api/v4',
  gitea: '/api/v1',
  bitbucket: '/2.0',
  'bitbucket-data-center': '/rest/api/1.0',
  'azure-devops': '',
};

/** Git hosts whose API is on another host. */
const API_HOSTS: Readonly<Partial<Record<KnownForge, Readonly<Record<string, string>>>>> = {
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

/** The endpoint that follows from the address of a repository; its parts are null when the address does not show them. */
export function deriveForgeEndpoint(
  name: KnownForge,
  remote: RemoteAddress,
): { url: string | null; project: string | null } {
  if (name === 'azure-devops') return azureEndpoint(remote);
  return { url: derivedUrl(name, remote), project: derivedProject(name, remote) };
}

const NOTHING = { url: null, project: null };

/**
 * Reads `https://dev.azure.com/org/project/_git/repo`, `https://org.visualstudio.com/project/_git/repo`, a self-hosted
 * collection `https://host/tfs/collection/project/_git/repo`, and `git@ssh.dev.azure.com:v3/org/project/repo`. An address
 * without a project means the project with the name of the repository.
 */
function azureEndpoint(remote: RemoteAddress): { url: string | null; project: string | null } {
  const parts = (pathOf(remote) ?? '')
    .replace(/^\/+|\/+$/g, '')
    .split('/')
    .map(plain);
  const { host } = remote;
  const endpointIn = (url: string, project: string[]) => ({
    url,
    project: readProject('azure-devops', project.join('/')),
  });
  if (/^(ssh\.dev\.azure|vs-ssh\.visualstudio)\.com$/.test(host)) {
    const [version, org = '', ...project] = parts;
    if (!/^v\d$/.test(version ?? '') || project.length !== 2) return NOTHING;
    return endpointIn(`https://dev.azure.com/${encodeURIComponent(org)}`, project);
  }
  const at = parts.indexOf('_git');
  const repo = parts[at + 1];
  if (remote.transport === 'ssh' || at < 0 || repo === undefined || parts.length !== at + 2) return NOTHING;
  const before = parts.slice(0, at);
  const visualStudio = /^([\w-]+)\.visualstudio\.com$/.exec(host)?.[1];
  if (visualStudio) {
    const [project = repo] = before.filter((segment) => segment.toLowerCase() !== 'defaultcollection');
    return endpointIn(`https://dev.azure.com/${visualStudio}`, [project, repo]);
  }
  const depth = host === 'dev.azure.com' ? 1 : Math.max(1, before.length - 1);
  if (before.length === 0) return NOTHING;
  const root = before.slice(0, depth).map(encodeURIComponent).join('/');
  return endpointIn(`${originOf(remote)}/${root}`, [before[depth] ?? repo, repo]);
}

function derivedUrl(name: KnownForge, remote: RemoteAddress): string | null {
  const { host } = remote;
  const known = API_HOSTS[name]?.[host];
  if (known) return known;
  if (name === 'bitbucket') return null;
  if (name === 'github' && host.endsWith('.ghe.com')) return `https://api.${host.replace(/^api\./, '')}`;
  return `${originOf(remote)}${contextOf(name, remote)}${API_PATH[name]}`;
}

function originOf({ transport, host, port }: RemoteAddress): string {
  const usual = transport === 'http' ? 80 : 443;
  const at = transport === 'ssh' || port === usual ? '' : `:${port}`;
  return `${transport === 'http' ? 'http' : 'https'}://${bracketed(host)}${at}`;
}

/** Bitbucket Data Center may run below a path: `https://host/bitbucket/scm/PROJ/repo.git`. */
function contextOf(name: KnownForge, remote: RemoteAddress): string {
  if (name !== 'bitbucket-data-center' || remote.transport === 'ssh') return '';
  const path = pathOf(remote) ?? '';
  const at = path.indexOf('scm/');
  return at > 0 ? `/${path.slice(0, at).replace(/^\/+|\/+$/g, '')}` : '';
}

/** Reads `https://host/a/b.git`, `ssh://git@host:2222/a/b` and `git@host:a/b.git` alike. */
function derivedProject(name: KnownForge, remote: RemoteAddress): string | null {
  const path = pathOf(remote);
  if (path === null) return null;
  const below = name === 'bitbucket-data-center' ? path.replace(/^(.*\/)?scm\//, '') : path;
  return readProject(name, plain(below));
}

const pathOf = ({ url }: RemoteAddress): string | null =>
  /^[a-z]+:\/\/[^/]*\/(.*)$/.exec(url)?.[1] ?? /^[^/@]+@(?:\[[^\]]*\]|[^:]*):(.*)$/.exec(url)?.[1] ?? null;

function plain(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

const SEGMENT = /^[\w.-][\w.~+-]*$/;
/** `~ann` is the project of a user. */
const DATA_CENTER_SEGMENT = /^~?[\w.-][\w.~+-]*$/;
/** Names of projects and repositories may hold blanks and letters of every script. */
const AZURE_SEGMENT = /^[\p{L}\p{N}_][\p{L}\p{N}_ .()+-]*$/u;

function segmentOf(name: KnownForge): RegExp {
  if (name === 'azure-devops') return AZURE_SEGMENT;
  return name === 'bitbucket-data-center' ? DATA_CENTER_SEGMENT : SEGMENT;
}

function readProject(name: KnownForge, text: string): string | null {
  const parts = text
    .replace(/^\/+|\/+$/g, '')
    .replace(/\.git$/, '')
    .split('/');
  const fits = name === 'gitlab' ? parts.length >= 2 && parts.length <= 21 : parts.length === 2;
  const segment = segmentOf(name);
  const fine = parts.every((part) => segment.test(part) && part !== '.' && part !== '..');
  return fits && fine ? parts.join('/') : null;
}

const PROJECT_FORMS: Readonly<Partial<Record<KnownForge, string>>> = {
  gitlab: 'group/name, with all groups',
  'bitbucket-data-center': 'PROJECT/name, or ~user/name',
  'azure-devops': 'project/repository',
};

/** @throws ForgeAddressError */
export function forgeEndpoint(
  name: KnownForge,
  given: { url?: string | undefined; project?: string | undefined },
  remote: RemoteAddress,
): ForgeEndpoint {
  const derived = deriveForgeEndpoint(name, remote);
  const url = given.url === undefined ? derived.url : readForgeUrl(name, given.url, remote);
  if (url === null)
    throw new ForgeAddressError(
      name === 'bitbucket'
        ? `forge.url: ${remote.host} is not bitbucket.org; choose "bitbucket-data-center" for Bitbucket Data Center, or choose "none" for another server: Headgate then keeps the pull requests itself`
        : 'forge.url: the address of the repository does not show it; write https://dev.azure.com/<organization>, or the address of the collection on your own server; for another server choose "none": Headgate then keeps the pull requests itself',
    );
  const project = given.project === undefined ? derived.project : readProject(name, given.project);
  if (project === null)
    throw new ForgeAddressError(
      `forge.project: ${given.project === undefined ? 'the address of the repository does not show it' : 'this is not a project'}; write ${PROJECT_FORMS[name] ?? 'owner/name'}`,
    );
  return { url, project };
}

const EXAMPLES: Readonly<Partial<Record<KnownForge, string>>> = {
  'azure-devops': 'https://dev.azure.com/acme',
};

function readForgeUrl(name: KnownForge, text: string, remote: RemoteAddress): string {
  const example = `write something like ${deriveForgeEndpoint(name, remote).url ?? EXAMPLES[name] ?? 'https://api.bitbucket.org/2.0'}`;
  const invalid = (why: string) => new ForgeAddressError(`forge.url: ${why}; ${example}`);
  const url = /[^\x21-\x7e]/.test(text) ? null : URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || url.hostname === '')
    throw invalid('this is not an http(s) address');
  if (url.username || url.password) throw invalid('the token does not belong in the address');
  if (url.search || url.hash || text.includes('?') || text.includes('#'))
    throw invalid('the address of an API has no ? and no #');
  if (url.protocol === 'http:' && remote.transport !== 'http')
    throw invalid('http:// would send the token unencrypted, while the repository uses an encrypted address');
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const known = API_HOSTS[name]?.[host];
  if (known) return known;
  const path = url.pathname.replace(/\/+$/, '');
  const isApi =
    name === 'github' ? path.endsWith('/api/v3') || /^api\./.test(host) : path.endsWith(API_PATH[name]);
  return `${url.protocol}//${url.host}${path}${isApi ? '' : API_PATH[name]}`;
}
