/** A bare repository with branches to merge, and the workspace of a merge: real git, no database. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PullRequestRecord } from '../../../controller/delivery/pull-requests/index.ts';
import { createRepositories, type RepositoryHandle } from '../../../controller/delivery/repository/index.ts';
import { createKeyring } from '../../../controller/platform/crypto/keyring.ts';
import { createLogger } from '../../../controller/platform/runtime/logger.ts';
import { localGit } from '../../../reconcilers/merge/local-git.ts';
import type { Workspace } from '../../../reconcilers/merge/workspace.ts';
import { mergePullRequest } from '../../../reconcilers/pull-requests/merge/merge-pull-request.ts';
import type { MergeMethod } from '../../../schemas/api/delivery/pull-requests.ts';
import { commit, createBareRepository, git, type ImportedCommit } from '../clients/fast-import.ts';
import { localGuard } from '../fixtures/local-targets.ts';

export const GRACE = { name: 'Grace Hopper', email: 'grace@example.org' };
export const HEADGATE = { name: 'Headgate', email: 'headgate@localhost' };

export class PullWorkspace {
  readonly folder = mkdtempSync(join(tmpdir(), 'headgate-pulls-'));
  readonly gitdir = join(this.folder, 'config.git');
  readonly handle: RepositoryHandle;

  constructor() {
    createBareRepository(this.gitdir);
    const keyring = createKeyring('0123456789abcdef0123456789abcdef');
    this.handle = createRepositories({
      ...{
        root: this.folder,
        gitdir: this.gitdir,
        keyring,
        guard: localGuard(),
        log: createLogger('silent'),
      },
    }).of({
      ...{ id: 'binding', repositoryUrl: 'embedded', ref: 'main', sealedCredentials: null },
      ...{ knownHosts: null, caCertificate: null, headCommit: null, appliedCommit: null },
    });
  }

  git(...args: string[]): string {
    return git(this.gitdir, ...args);
  }

  head(branch = 'main'): string {
    return this.git('rev-parse', `refs/heads/${branch}`);
  }

  commit(branch: string, files: ImportedCommit['files'], more: Partial<ImportedCommit> = {}): string {
    return commit(this.gitdir, { branch, message: `change ${branch}`, files, ...more });
  }

  /** A branch at the head of another. */
  branch(name: string, from = 'main'): void {
    this.git('update-ref', `refs/heads/${name}`, this.head(from));
  }

  workspace(more: Partial<Workspace> = {}): Workspace {
    const { signal } = new AbortController();
    return {
      ...{ handle: this.handle, git: localGit(this.gitdir, signal), signal },
      ...{ author: GRACE, committer: HEADGATE },
      ...more,
    };
  }

  merge(branch: string, method: MergeMethod, more: Partial<Workspace> & { headSha?: string } = {}) {
    const { headSha = this.head(branch), ...rest } = more;
    return mergePullRequest(this.workspace(rest), pullOf(branch), { method, headSha });
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Only the fields that a merge reads. */
export const pullOf = (branch: string, more: Partial<PullRequestRecord> = {}): PullRequestRecord =>
  ({
    id: 'p7',
    number: 7,
    title: 'Faster  orders',
    base: 'main',
    branch,
    subject: {},
    ...more,
  }) as PullRequestRecord;

const PERSON = {
  GIT_AUTHOR_NAME: 'Ada Example',
  GIT_AUTHOR_EMAIL: 'ada@example.org',
  GIT_COMMITTER_NAME: 'Ada Example',
  GIT_COMMITTER_EMAIL: 'ada@example.org',
};

/** A clone with a work tree, where the git command does the same. */
export class WorkTree {
  readonly folder: string;
  constructor(gitdir: string) {
    this.folder = mkdtempSync(join(tmpdir(), 'headgate-tree-'));
    execFileSync('git', ['clone', '--quiet', '--', gitdir, this.folder], { stdio: 'pipe' });
  }
  /** Null where git fails. */
  git(...args: string[]): string | null {
    try {
      return execFileSync('git', args, {
        cwd: this.folder,
        encoding: 'utf8',
        stdio: 'pipe',
        env: {
          ...{ PATH: process.env.PATH ?? '', HOME: this.folder },
          ...{ GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null', GIT_EDITOR: 'true' },
          ...PERSON,
        },
      }).trim();
    } catch {
      return null;
    }
  }
  write(path: string, text: string): void {
    writeFileSync(join(this.folder, path), text);
  }
  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
