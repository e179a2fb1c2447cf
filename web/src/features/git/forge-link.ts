/** Where a line of a commit can be read in the browser. */

/** How the address of a file goes on after that of its repository. */
const FORGES: readonly { host: RegExp; file: (sha: string, path: string, line: number) => string }[] = [
  { host: /^github\./, file: (sha, path, line) => `blob/${sha}/${path}#L${line}` },
  { host: /^gitlab\./, file: (sha, path, line) => `-/blob/${sha}/${path}#L${line}` },
  { host: /^bitbucket\.org$/, file: (sha, path, line) => `src/${sha}/${path}#lines-${line}` },
  {
    host: /^(codeberg\.org$|gitea\.|forgejo\.)/,
    file: (sha, path, line) => `src/commit/${sha}/${path}#L${line}`,
  },
];

interface Place {
  sha: string;
  /** From the root of the repository. */
  path: string;
  line: number;
}

/** On a server whose kind its name tells; null where nothing is known of it. */
export function forgeLink(repositoryUrl: string | null, { sha, path, line }: Place): string | null {
  if (!repositoryUrl || !URL.canParse(repositoryUrl)) return null;
  const { hostname, pathname, protocol } = new URL(repositoryUrl);
  if (!['https:', 'http:', 'ssh:'].includes(protocol)) return null;
  const forge = FORGES.find(({ host }) => host.test(hostname));
  if (!forge) return null;
  const repository = pathname.replace(/\/$/, '').replace(/\.git$/, '');
  const written = path.split('/').map(encodeURIComponent).join('/');
  return `https://${hostname}${repository}/${forge.file(encodeURIComponent(sha), written, line)}`;
}
