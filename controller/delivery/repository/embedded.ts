/** The embedded config repository: a bare repository in the data directory. */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { access, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../platform/operation/errors.ts';
import { searchPath } from '../../platform/runtime/search-path.ts';

export interface EmbeddedRepository {
  /** Its folder: git's smart HTTP serves everything below it. */
  root: string;
  gitdir: string;
  name: string;
}

const NAME = 'config.git';

export type GitSetting = readonly [key: string, value: string];

/**
 * A clean environment for git: without the settings of the machine or the user. `settings` are additional settings of git, kept
 * out of argument lists, which other users can read.
 */
export function gitEnvironment(gitdir: string, settings: readonly GitSetting[] = []): Record<string, string> {
  // The folder may belong to another user than this process (root in a container's volume).
  const all: readonly GitSetting[] = [['safe.directory', gitdir], ...settings];
  return {
    PATH: searchPath,
    LANG: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_TERMINAL_PROMPT: '0',
    GIT_CONFIG_COUNT: String(all.length),
    ...Object.fromEntries(
      all.flatMap(([key, value], at) => [
        [`GIT_CONFIG_KEY_${at}`, key],
        [`GIT_CONFIG_VALUE_${at}`, value],
      ]),
    ),
  };
}

const CONFIG = `[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = true
\thooksPath = /dev/null
\tfsmonitor = false
[http]
\treceivepack = true
[receive]
\tfsckObjects = true
\tmaxInputSize = 268435456
\tadvertisePushOptions = false
[transfer]
\thideRefs = refs/headgate
[uploadpack]
\tallowFilter = true
[gc]
\tauto = 0
`;

/** Creates the repository if there is none, whole or not at all. */
export async function ensureEmbeddedRepository(
  dataDir: string,
): Promise<EmbeddedRepository & { created: boolean }> {
  const root = join(dataDir, 'git');
  const gitdir = join(root, NAME);
  const exists = () =>
    access(join(gitdir, 'HEAD')).then(
      () => true,
      () => false,
    );
  let created = false;
  if (!(await exists())) {
    await mkdir(root, { recursive: true, mode: 0o700 });
    const fresh = await mkdtemp(`${gitdir}.new-`);
    try {
      await git(['init', '--quiet', '--bare', '--initial-branch=main', '--', fresh], { gitdir: fresh });
      await rename(fresh, gitdir);
      created = true;
    } catch (error) {
      // Another controller on the same data directory was faster.
      if (!(await exists())) throw error;
    } finally {
      await rm(fresh, { recursive: true, force: true });
    }
  }
  // Written to another file first: git may read it while another controller starts.
  const aside = join(gitdir, `config.${randomUUID()}`);
  await writeFile(aside, CONFIG);
  await rename(aside, join(gitdir, 'config'));
  return { root, gitdir, name: NAME, created };
}

/** The full name of the branch in HEAD, with which clones begin; null when HEAD names none. */
export async function defaultBranchOf(gitdir: string): Promise<string | null> {
  const head = await readFile(join(gitdir, 'HEAD'), 'utf8');
  return /^ref: (refs\/heads\/\S+)/.exec(head)?.[1] ?? null;
}

/** Commits the files of a folder to `main` of an empty repository. */
export async function seedRepository(
  gitdir: string,
  folder: string,
  author: { name: string; email: string },
): Promise<void> {
  const index = join(gitdir, 'seed-index');
  const identity = {
    GIT_AUTHOR_NAME: author.name,
    GIT_AUTHOR_EMAIL: author.email,
    GIT_COMMITTER_NAME: author.name,
    GIT_COMMITTER_EMAIL: author.email,
    GIT_INDEX_FILE: index,
  };
  const options = { gitdir, variables: { ...identity, GIT_DIR: gitdir, GIT_WORK_TREE: folder } };
  await git(['add', '--all', '--force', '.'], { ...options, cwd: folder });
  const tree = (await git(['write-tree'], options)).trim();
  const commit = (await git(['commit-tree', tree, '-m', 'Start from the example'], options)).trim();
  await git(['update-ref', 'refs/heads/main', commit, ''], options);
  await rm(index, { force: true });
}

/** Runs git to its end. @throws Error with its stderr */
function git(
  args: string[],
  options: { gitdir: string; cwd?: string; variables?: Record<string, string> },
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn('git', args, {
      cwd: options.cwd,
      env: { ...gitEnvironment(options.gitdir), ...options.variables },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: 60_000,
    });
    let output = '';
    let complaint = '';
    // Without free file descriptors there are no pipes, and the `error` event below reports that.
    child.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')));
    child.stderr?.on('data', (chunk: Buffer) => (complaint += chunk.toString('utf8').slice(0, 4_096)));
    child.on('error', (error) => reject(new Error(`git cannot be run: ${messageOf(error)}`)));
    child.on('close', (code) =>
      code === 0 ? resolve(output) : reject(new Error(`git ${args[0]} failed: ${complaint.trim()}`)),
    );
  });
}
