/** Makes bare repositories of many files in no time, by `git fast-import`: nothing is checked out. */
import { execFileSync } from 'node:child_process';

export interface ImportedCommit {
  branch: string;
  message: string;
  /** Path to content; null deletes. Paths not named stay as the commit before had them. */
  files: Readonly<Record<string, string | Buffer | null>>;
  /** Path to target. */
  links?: Readonly<Record<string, string>>;
  /** Path to a commit of another repository. */
  submodules?: Readonly<Record<string, string>>;
  /** Starts a history of its own instead of going on with the branch. */
  orphan?: boolean;
}

const ENVIRONMENT = {
  PATH: process.env.PATH ?? '',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_AUTHOR_DATE: '1700000000 +0000',
};

export function git(gitdir: string, ...args: string[]): string {
  return execFileSync('git', [`--git-dir=${gitdir}`, ...args], {
    env: ENVIRONMENT,
    encoding: 'utf8',
    stdio: 'pipe',
  }).trim();
}

export function createBareRepository(gitdir: string): void {
  execFileSync('git', ['init', '--quiet', '--bare', '--initial-branch=main', gitdir], { env: ENVIRONMENT });
}

let clock = 1_700_000_000;

function quoted(path: string): string {
  return `"${path.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`;
}

/** Adds one commit and returns its id. Modes and contents are exactly as given, whatever git would say to them. */
export function commit(gitdir: string, wanted: ImportedCommit): string {
  clock += 60;
  const parts: Buffer[] = [];
  const write = (text: string) => parts.push(Buffer.from(text));
  const data = (content: string | Buffer) => {
    const bytes = Buffer.from(content);
    write(`data ${bytes.length}\n`);
    parts.push(bytes);
    write('\n');
  };
  const reference = `refs/heads/${wanted.branch}`;
  if (wanted.orphan) write(`reset ${reference}\n`);
  write(`commit ${reference}\n`);
  write(`author Ada Example <ada@example.org> ${clock} +0000\n`);
  write(`committer Ada Example <ada@example.org> ${clock} +0000\n`);
  data(wanted.message);
  const exists = !wanted.orphan && git(gitdir, 'for-each-ref', reference) !== '';
  if (exists) write(`from ${reference}^0\n`);
  for (const [path, content] of Object.entries(wanted.files)) {
    if (content === null) {
      write(`D ${quoted(path)}\n`);
      continue;
    }
    write(`M 100644 inline ${quoted(path)}\n`);
    data(content);
  }
  for (const [path, target] of Object.entries(wanted.links ?? {})) {
    write(`M 120000 inline ${quoted(path)}\n`);
    data(target);
  }
  for (const [path, sha] of Object.entries(wanted.submodules ?? {}))
    write(`M 160000 ${sha} ${quoted(path)}\n`);
  write('done\n');
  execFileSync('git', [`--git-dir=${gitdir}`, 'fast-import', '--quiet', '--force', '--done'], {
    env: ENVIRONMENT,
    input: Buffer.concat(parts),
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  return git(gitdir, 'rev-parse', reference);
}
