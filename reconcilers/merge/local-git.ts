/** The system's git on a bare repository, for what pull requests need: bounded, without hooks, filters or a network. */
import { gitEnvironment, RepositoryError, runGit } from '../../controller/delivery/repository/index.ts';

const RUN_MS = 30_000;

export interface LocalGitOptions {
  env?: Readonly<Record<string, string>>;
  input?: string;
  /** Ends that are answers, too; 0 always is one. */
  codes?: readonly number[];
}

export interface LocalGitResult {
  code: number;
  stdout: string;
}

/** Of one repository, until the signal. */
export interface LocalGit {
  gitdir: string;
  signal: AbortSignal;
  /** @throws RepositoryError with what git said */
  (args: readonly string[], ask?: LocalGitOptions): Promise<LocalGitResult>;
}

export function localGit(gitdir: string, signal: AbortSignal): LocalGit {
  const run = async (
    args: readonly string[],
    { env, input, codes = [] }: LocalGitOptions = {},
  ): Promise<LocalGitResult> => {
    const end = await runGit(args, {
      cwd: gitdir,
      env: {
        ...gitEnvironment(gitdir, SETTINGS),
        GIT_DIR: gitdir,
        GIT_LITERAL_PATHSPECS: '1',
        GIT_NO_REPLACE_OBJECTS: '1',
        GIT_OPTIONAL_LOCKS: '0',
        // A partial copy is read as it is. Git before 2.45 only knows the second.
        GIT_NO_LAZY_FETCH: '1',
        GIT_ALLOW_PROTOCOL: 'none',
        ...env,
      },
      signal,
      deadlineMs: RUN_MS,
      ...(input === undefined ? {} : { input }),
    });
    if (end.code === 0 || (end.code !== null && codes.includes(end.code)))
      return { code: end.code, stdout: end.stdout };
    throw failure(args, end);
  };
  return Object.assign(run, { gitdir, signal });
}

/** What git would otherwise take from the repository's own settings, or from its defaults of the day. */
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

function failure(
  args: readonly string[],
  end: { stderr: string; late: boolean; code: number | null },
): Error {
  const [command = ''] = args;
  if (end.late)
    return new RepositoryError(
      'timeout',
      `git ${command} took longer than ${RUN_MS / 1000} s; try again, or make the change by hand`,
    );
  if (command === 'merge-tree' && TOO_OLD.test(end.stderr))
    return new RepositoryError(
      'program',
      'merging needs git 2.38 or newer on the controller; the git there is older: update it',
    );
  const said = end.stderr.replaceAll(/[\0-\x1f\x7f]/g, ' ').trim();
  return new RepositoryError('copy', `git ${command} failed: ${said.slice(0, 300)}`);
}

/** The merge-tree of before knew no options. */
const TOO_OLD = /usage: git merge-tree <|Not a valid object name --write-tree|unknown rev --/;
