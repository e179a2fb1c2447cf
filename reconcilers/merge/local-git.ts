/** Runs the system's git on a bare repository for pull requests: with a deadline, without hooks, filters or network. */
import { gitEnvironment, RepositoryError, runGit } from '../../controller/delivery/repository/index.ts';

const DEADLINE_MS = 30_000;

export interface LocalGitOptions {
  env?: Readonly<Record<string, string>>;
  input?: string;
  /** Exit codes that are no failure, besides 0. */
  acceptedCodes?: readonly number[];
}

export interface LocalGitResult {
  code: number;
  stdout: string;
}

/** Runs git in one repository until the signal aborts. */
export interface LocalGit {
  gitdir: string;
  signal: AbortSignal;
  /** @throws RepositoryError with the output of git */
  (args: readonly string[], options?: LocalGitOptions): Promise<LocalGitResult>;
}

export function localGit(gitdir: string, signal: AbortSignal): LocalGit {
  const run = async (
    args: readonly string[],
    { env, input, acceptedCodes = [] }: LocalGitOptions = {},
  ): Promise<LocalGitResult> => {
    const result = await runGit(args, {
      cwd: gitdir,
      env: {
        ...gitEnvironment(gitdir, SETTINGS),
        GIT_DIR: gitdir,
        GIT_LITERAL_PATHSPECS: '1',
        GIT_NO_REPLACE_OBJECTS: '1',
        GIT_OPTIONAL_LOCKS: '0',
        // A partial clone must not fetch missing objects. Git before 2.45 only knows GIT_ALLOW_PROTOCOL.
        GIT_NO_LAZY_FETCH: '1',
        GIT_ALLOW_PROTOCOL: 'none',
        ...env,
      },
      signal,
      deadlineMs: DEADLINE_MS,
      ...(input === undefined ? {} : { input }),
    });
    if (result.code === 0 || (result.code !== null && acceptedCodes.includes(result.code)))
      return { code: result.code, stdout: result.stdout };
    throw toRepositoryError(args, result);
  };
  return Object.assign(run, { gitdir, signal });
}

/** Overrides the config of the repository and defaults that differ between git versions. */
const SETTINGS = [
  ['core.hooksPath', '/dev/null'],
  ['core.fsmonitor', 'false'],
  ['core.quotePath', 'false'],
  ['core.bigFileThreshold', '2m'],
  ['commit.gpgSign', 'false'],
  ['merge.renames', 'true'],
  ['merge.directoryRenames', 'conflict'],
  ['gc.auto', '0'],
] as const;

function toRepositoryError(
  args: readonly string[],
  result: { stderr: string; late: boolean; code: number | null },
): Error {
  const [command = ''] = args;
  if (result.late)
    return new RepositoryError(
      'timeout',
      `git ${command} took longer than ${DEADLINE_MS / 1000} s; try again, or make the change with your own git`,
    );
  if (command === 'merge-tree' && UNSUPPORTED_MERGE_TREE.test(result.stderr))
    return new RepositoryError(
      'program',
      'a merge needs git 2.38 or newer on the controller, and its git is older; update git there',
    );
  const output = result.stderr.replaceAll(/[\0-\x1f\x7f]/g, ' ').trim();
  return new RepositoryError('copy', `git ${command} failed: ${output.slice(0, 300)}`);
}

/** Output of `git merge-tree` before 2.38, which knows no options. */
const UNSUPPORTED_MERGE_TREE = /usage: git merge-tree <|Not a valid object name --write-tree|unknown rev --/;
