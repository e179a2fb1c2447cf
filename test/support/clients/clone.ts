/** A working copy as a person has it: what is pushed, and what the push says. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { GitClient } from './git-client.ts';

/** Who commits. */
export const AUTHOR = { name: 'Ada Example', email: 'ada@example.org' };

export class Clone {
  readonly #client: GitClient;

  private constructor(client: GitClient) {
    this.#client = client;
  }

  static async of(url: string): Promise<Clone> {
    const client = new GitClient(url);
    const { code, stderr } = await client.clone();
    if (code !== 0) throw new Error(`git clone: ${stderr}`);
    return new Clone(client);
  }

  /** Answers both streams. Throws what git says when it fails. */
  async git(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await this.#client.run(...args);
    if (code !== 0) throw new Error(`git ${args[0]}: ${stderr}`);
    return stdout + stderr;
  }

  read(path: string): string {
    return readFileSync(join(this.#client.folder, path), 'utf8');
  }

  /** Writes the files (null removes one), commits and pushes: answers the commit and what the push said. */
  async push(message: string, files: Record<string, string | null>): Promise<{ sha: string; said: string }> {
    await this.#client.commit(files, message);
    const said = await this.git('push', 'origin', 'main');
    return { sha: (await this.git('rev-parse', 'HEAD')).trim(), said };
  }

  remove(): Promise<void> {
    return this.#client.remove();
  }
}
