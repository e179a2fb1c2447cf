/** A clone in a folder of its own, worked by the git command over HTTP. */
import { spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

export interface GitOutcome {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Nothing of the machine's or the user's settings, and an author of our own. */
export const GIT_ENVIRONMENT = {
  PATH: process.env.PATH ?? '',
  LANG: 'C',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_TERMINAL_PROMPT: '0',
  GIT_AUTHOR_NAME: 'Ada Example',
  GIT_AUTHOR_EMAIL: 'ada@example.org',
  GIT_COMMITTER_NAME: 'Ada Example',
  GIT_COMMITTER_EMAIL: 'ada@example.org',
};

/** Never synchronous: the server that it talks to runs in this process. */
export function runGit(args: string[], cwd: string = tmpdir()): Promise<GitOutcome> {
  return new Promise((resolve, reject) => {
    const child = spawn('git', args, { cwd, env: GIT_ENVIRONMENT, stdio: ['ignore', 'pipe', 'pipe'] });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString('utf8')));
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString('utf8')));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });
}

/** `http://user:token@host/…` */
export function withCredentials(cloneUrl: string, user: string, password = ''): string {
  const url = new URL(cloneUrl);
  url.username = user;
  url.password = password;
  return url.href;
}

export class GitClient {
  readonly folder = mkdtempSync(join(tmpdir(), 'headgate-clone-'));
  readonly remote: string;

  constructor(remote: string) {
    this.remote = remote;
  }

  async clone(): Promise<GitOutcome> {
    return runGit(['clone', '--quiet', '--', this.remote, this.folder]);
  }

  run(...args: string[]): Promise<GitOutcome> {
    return runGit(args, this.folder);
  }

  /** Writes the files (null removes one) and commits them on `main`. */
  async commit(files: Record<string, string | null>, message = 'change'): Promise<void> {
    for (const [path, content] of Object.entries(files)) {
      const full = join(this.folder, path);
      await mkdir(dirname(full), { recursive: true });
      if (content === null) await rm(full);
      else await writeFile(full, content);
    }
    for (const args of [
      ['checkout', '--quiet', '-B', 'main'],
      ['add', '--all'],
      ['commit', '--quiet', '--message', message],
    ]) {
      const { code, stderr } = await this.run(...args);
      if (code !== 0) throw new Error(`git ${args[0]}: ${stderr}`);
    }
  }

  push(...args: string[]): Promise<GitOutcome> {
    return this.run('push', ...args, 'origin', 'main');
  }

  remove(): Promise<void> {
    return rm(this.folder, { recursive: true, force: true });
  }
}
