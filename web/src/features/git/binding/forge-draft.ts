/** The forge of a remote while it is written: texts of fields, and what they come to. */
import type { BindForge, BoundForge } from '../../../../../schemas/api/delivery/forges.ts';
import { hostOf } from './binding-draft.ts';

export type ForgeName = BoundForge['name'];

export interface ForgeDraft {
  name: ForgeName;
  url: string;
  project: string;
  token: string;
  /** GitHub: by an app instead. */
  isApp: boolean;
  appId: string;
  privateKey: string;
  /** Another token is given in the place of the one that is kept. */
  replacesToken: boolean;
  secret: string;
  /** What becomes of the webhook's secret. */
  webhook: 'keep' | 'replace' | 'none';
}

export const FORGES: Record<ForgeName, { word: string; what: string; rights: string; api: string }> = {
  none: { word: 'None: they are kept here', what: '', rights: '', api: '' },
  github: {
    word: 'GitHub, also Enterprise',
    what: 'owner/name',
    rights:
      'A fine-grained token for the repository: Pull requests, Commit statuses and Contents, read and write.',
    api: '/api/v3',
  },
  gitlab: {
    word: 'GitLab',
    what: 'group/name, with all groups',
    rights: 'A project access token of the role Developer, with the scope api.',
    api: '/api/v4',
  },
  gitea: {
    word: 'Gitea or Forgejo',
    what: 'owner/name',
    rights: 'A token with write:repository, write:issue and read:user.',
    api: '/api/v1',
  },
  bitbucket: {
    word: 'Bitbucket Cloud',
    what: 'workspace/name',
    rights:
      'A repository access token that may write repositories and pull requests, or user:password in one.',
    api: '',
  },
  'bitbucket-data-center': {
    word: 'Bitbucket Data Center',
    what: 'PROJECT/name, or ~user/name',
    rights: 'An HTTP access token of the repository or the project with Repository write.',
    api: '/rest/api/1.0',
  },
  'azure-devops': {
    word: 'Azure DevOps',
    what: 'project/repository',
    rights:
      'A personal access token with Code (Read & write), Code (Status) and Pull Request Threads (Read & write).',
    api: '',
  },
};

export const FORGE_CHOICES = Object.entries(FORGES).map(([value, { word }]) => ({
  value: value as ForgeName,
  word,
}));

export const forgeDraft = (forge: BoundForge | null): ForgeDraft => ({
  name: forge?.name ?? 'none',
  url: forge?.url ?? '',
  project: forge?.project ?? '',
  token: '',
  isApp: typeof forge?.appId === 'string',
  appId: forge?.appId ?? '',
  privateKey: '',
  replacesToken: false,
  secret: '',
  webhook: forge?.hasWebhookSecret ? 'keep' : 'none',
});

const CLOUD: Partial<Record<ForgeName, Record<string, string>>> = {
  github: {
    'github.com': 'https://api.github.com',
    'www.github.com': 'https://api.github.com',
    'ssh.github.com': 'https://api.github.com',
  },
  gitlab: { 'altssh.gitlab.com': 'https://gitlab.com/api/v4' },
  bitbucket: {
    'bitbucket.org': 'https://api.bitbucket.org/2.0',
    'altssh.bitbucket.org': 'https://api.bitbucket.org/2.0',
  },
};

/** What the server takes for an empty field, as the address of the repository tells; empty where it does not. */
export function derived(name: ForgeName, repositoryUrl: string): { url: string; project: string } {
  const url = repositoryUrl.trim();
  const project =
    /^(?:[a-z]+:\/\/[^/]*\/|[^/@\s]+@[^:/\s]+:)(.+?)(?:\.git)?\/?$/i.exec(url)?.[1]?.replace(/^\/+/, '') ??
    '';
  if (name === 'none') return { url: '', project: '' };
  if (name === 'azure-devops') return azure(url);
  if (name === 'bitbucket-data-center') return dataCenter(url, project);
  return { url: apiOf(name, url), project: project.includes('/') ? project : '' };
}

/** `https://host/bitbucket/scm/PROJ/name.git`; by ssh without `scm`, at the root. */
function dataCenter(url: string, path: string): { url: string; project: string } {
  const [, context = '', below = path] = /^(?:(.*)\/)?scm\/(.*)$/.exec(path) ?? [];
  const isHttp = /^https?:/i.test(url);
  const api = apiOf('gitea', url).replace(/\/api\/v1$/, '');
  const at = isHttp && context ? `/${context}` : '';
  return {
    url: api && `${api}${at}${FORGES['bitbucket-data-center'].api}`,
    project: below.split('/').length === 2 ? below : '',
  };
}

/** An organization, or a collection of a server of one's own. */
function azure(url: string): { url: string; project: string } {
  const none = { url: '', project: '' };
  const plain = (part: string): string => {
    try {
      return decodeURIComponent(part);
    } catch {
      return part;
    }
  };
  const host = hostOf(url);
  const [, rest = ''] = /^(?:[a-z]+:\/\/[^/]*\/+|[^/@\s]+@[^:/\s]+:)(.*?)\/*$/i.exec(url) ?? [];
  const parts = rest.split('/').map(plain);
  if (/^(ssh\.dev\.azure|vs-ssh\.visualstudio)\.com$/.test(host.replace(/:\d+$/, ''))) {
    const [version = '', org = '', ...project] = parts;
    if (!/^v\d$/.test(version) || project.length !== 2) return none;
    return { url: `https://dev.azure.com/${encodeURIComponent(org)}`, project: project.join('/') };
  }
  const at = parts.indexOf('_git');
  const repo = parts[at + 1];
  if (!/^https?:/i.test(url) || at < 0 || repo === undefined || parts.length !== at + 2) return none;
  const before = parts.slice(0, at);
  const visualStudio = /^([\w-]+)\.visualstudio\.com$/.exec(host)?.[1];
  if (visualStudio) {
    const [project = repo] = before.filter((one) => one.toLowerCase() !== 'defaultcollection');
    return { url: `https://dev.azure.com/${visualStudio}`, project: `${project}/${repo}` };
  }
  if (before.length === 0) return none;
  const depth = host === 'dev.azure.com' ? 1 : Math.max(1, before.length - 1);
  const root = before.slice(0, depth).map(encodeURIComponent).join('/');
  const scheme = /^http:/i.test(url) ? 'http' : 'https';
  return { url: `${scheme}://${host}/${root}`, project: `${before[depth] ?? repo}/${repo}` };
}

function apiOf(name: Exclude<ForgeName, 'none'>, repositoryUrl: string): string {
  const whole = hostOf(repositoryUrl);
  const host = whole.replace(/:\d+$/, '');
  const known = CLOUD[name]?.[host];
  if (known !== undefined) return known;
  if (name === 'bitbucket' || host === '') return '';
  if (name === 'github' && host.endsWith('.ghe.com')) return `https://api.${host}`;
  const isHttp = /^http:/i.test(repositoryUrl);
  // The port of ssh is not that of the API.
  const server = isHttp || /^https:/i.test(repositoryUrl) ? whole : host;
  return `${isHttp ? 'http' : 'https'}://${server}${FORGES[name].api}`;
}

/** The stored token is for one address: another address needs a new one. */
export const mayKeepToken = (draft: ForgeDraft, bound: BoundForge | null, repositoryUrl: string): boolean =>
  bound?.hasToken === true &&
  bound.name === draft.name &&
  bound.url === (draft.url.trim() || derived(draft.name, repositoryUrl).url);

export const isByApp = ({ name, isApp }: ForgeDraft): boolean => name === 'github' && isApp;

const MIN_SECRET = 16;

/** The first thing that is missing or wrong, in a sentence; empty when all is there. */
export function problemOfForge(draft: ForgeDraft, bound: BoundForge | null, repositoryUrl: string): string {
  if (draft.name === 'none') return '';
  const defaults = derived(draft.name, repositoryUrl);
  if (draft.url.trim() === '' && defaults.url === '') return 'Give the address of its API.';
  if (draft.project.trim() === '' && defaults.project === '')
    return `Give the project: ${FORGES[draft.name].what}.`;
  const keeps = mayKeepToken(draft, bound, repositoryUrl) && !draft.replacesToken;
  if (!keeps && isByApp(draft)) {
    if (draft.appId.trim() === '') return 'Give the id of the app.';
    if (!draft.privateKey.includes('PRIVATE KEY')) return 'Give the private key of the app, the whole file.';
  }
  if (!keeps && !isByApp(draft) && draft.token.trim() === '') return 'Give a token.';
  if (draft.webhook === 'replace' && draft.secret.length < MIN_SECRET)
    return `The webhook’s secret has ${MIN_SECRET} characters at least.`;
  return '';
}

export function forgeInput(draft: ForgeDraft): BindForge {
  if (draft.name === 'none') return { name: 'none' };
  const [url, project, token] = [draft.url.trim(), draft.project.trim(), draft.token.trim()];
  return {
    name: draft.name,
    ...(url ? { url } : {}),
    ...(project ? { project } : {}),
    ...(token && !isByApp(draft) ? { token } : {}),
    ...(isByApp(draft) && draft.privateKey.trim()
      ? { app: { id: draft.appId.trim(), privateKey: draft.privateKey } }
      : {}),
    ...(draft.webhook === 'none' ? { webhookSecret: null } : {}),
    ...(draft.webhook === 'replace' ? { webhookSecret: draft.secret } : {}),
  };
}

/** 256 bits that nobody guesses, in hexadecimal digits. */
export const makeSecret = (): string =>
  [...crypto.getRandomValues(new Uint8Array(32))].map((byte) => byte.toString(16).padStart(2, '0')).join('');

export interface WebhookSetUp {
  /** Where it is made. */
  where: string;
  /** What the field is called that takes the secret. */
  secretField: string;
  /** What is ticked, by the names that its pages use. */
  events: readonly string[];
  /** What else is chosen. */
  more?: string;
}

export const WEBHOOKS: Record<Exclude<ForgeName, 'none'>, WebhookSetUp> = {
  github: {
    where: 'Settings → Webhooks → Add webhook',
    secretField: 'Secret',
    events: ['Pushes', 'Pull requests', 'Merge groups'],
    more: 'Content type application/json; “Let me select individual events”.',
  },
  gitlab: {
    where: 'Settings → Webhooks → Add new webhook',
    secretField: 'Secret token',
    events: ['Push events', 'Merge request events'],
  },
  gitea: {
    where: 'Settings → Webhooks → Add webhook → Gitea or Forgejo',
    secretField: 'Secret',
    events: ['Push', 'Pull request', 'Pull request synchronized'],
    more: 'POST, application/json; “Custom events”.',
  },
  bitbucket: {
    where: 'Repository settings → Webhooks → Add webhook',
    secretField: 'Secret',
    events: [
      'Repository: Push',
      'Pull request: Created',
      'Pull request: Updated',
      'Pull request: Merged',
      'Pull request: Declined',
    ],
    more: '“Choose from a full list of triggers”.',
  },
  'bitbucket-data-center': {
    where: 'Repository settings → Webhooks → Create webhook',
    secretField: 'Secret',
    events: ['Repository: Push', 'Pull request: all of them but comments and tasks'],
  },
  'azure-devops': {
    where: 'Project settings → Service hooks → Create subscription → Web Hooks',
    secretField: 'Basic authentication password',
    events: ['Code pushed', 'Pull request created', 'Pull request updated', 'Pull request merge attempted'],
    more: 'One subscription for each; any user name does.',
  },
};
