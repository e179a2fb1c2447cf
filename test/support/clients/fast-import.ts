/** Makes bare repositories of many files in no time, by `git fast-import`: nothing is checked out. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

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
  /** The branch or commit that a new branch starts at. */
  from?: string;
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

/** Without the samples of hooks, which no test reads and each would write and remove. */
export function createBareRepository(gitdir: string): void {
  const options = ['--quiet', '--bare', '--initial-branch=main', '--template='];
  execFileSync('git', ['init', ...options, gitdir], { env: ENVIRONMENT });
  mkdirSync(join(gitdir, 'hooks'));
}

/** A commit asks for it, so no process is started. */
function hasRef(gitdir: string, ref: string): boolean {
  if (existsSync(join(gitdir, ref))) return true;
  const packed = join(gitdir, 'packed-refs');
  return existsSync(packed) && readFileSync(packed, 'utf8').includes(` ${ref}\n`);
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
  write(`commit ${reference}\nmark :1\n`);
  write(`author Ada Example <ada@example.org> ${clock} +0000\n`);
  write(`committer Ada Example <ada@example.org> ${clock} +0000\n`);
  data(wanted.message);
  if (wanted.from) write(`from ${wanted.from}^0\n`);
  else if (!wanted.orphan && hasRef(gitdir, reference)) write(`from ${reference}^0\n`);
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
  write('get-mark :1\ndone\n');
  return execFileSync('git', [`--git-dir=${gitdir}`, 'fast-import', '--quiet', '--force', '--done'], {
    env: ENVIRONMENT,
    encoding: 'utf8',
    input: Buffer.concat(parts),
    stdio: ['pipe', 'pipe', 'pipe'],
  }).trim();
}
