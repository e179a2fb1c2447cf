/** A bare repository in a folder of its own, gone after the test, and short ways to fill and read it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createSourceCache,
  type Desired,
  openRepository,
  type Problem,
  type Repository,
  readDesired,
} from '../../../reconcilers/source/index.ts';
import { commit, createBareRepository, git, type ImportedCommit } from '../clients/fast-import.ts';
import { useEach } from '../harness/use.ts';

export const PRODUCTION = { path: 'environments/production', sharedPaths: ['shared', 'tests'] };

export function pipeline(name: string, spec = 'deployed: true'): string {
  return `apiVersion: headgate/v1\nkind: Pipeline\nmetadata: { name: ${name} }\nspec: { ${spec} }\n`;
}

export class ConfigRepository {
  readonly folder = mkdtempSync(join(tmpdir(), 'headgate-source-'));
  readonly gitdir = join(this.folder, 'config.git');
  readonly cache = createSourceCache();
  readonly repo: Repository;

  constructor() {
    createBareRepository(this.gitdir);
    this.repo = openRepository(this.gitdir);
  }

  remove(): void {
    void this.repo.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  git(...args: string[]): string {
    return git(this.gitdir, ...args);
  }

  commit(files: ImportedCommit['files'], more: Partial<ImportedCommit> = {}): string {
    return commit(this.gitdir, { branch: 'main', message: 'change', files, ...more });
  }

  read(sha: string, scope = PRODUCTION): Promise<Desired> {
    return readDesired(this.repo, sha, scope, this.cache);
  }
}

export function names(desired: Desired): string[] {
  return desired.manifests.map(({ name }) => name);
}

export function problemTexts(problems: readonly Problem[]): string[] {
  return problems.map(({ path, message }) => `${path}: ${message}`);
}

/** A new one for each case. */
export const useConfigRepository = () =>
  useEach(
    () => new ConfigRepository(),
    (repository) => repository.remove(),
  );
