/** The `headgate` command as a person or a CI job runs it: a process of its own, with nothing of our environment. */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

export const BIN = join(import.meta.dirname, '../../../bin/headgate');
export const EXAMPLE = join(import.meta.dirname, '../../../examples/config-repo');

export interface Ran {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface RunOptions {
  cwd?: string;
  env?: Readonly<Record<string, string>>;
}

export function headgate(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn(BIN, [...args], {
      cwd: options.cwd ?? tmpdir(),
      env: { PATH: process.env.PATH ?? '', HOME: '/nonexistent', ...options.env },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: 60_000,
    });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString('utf8')));
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString('utf8')));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });
}

/** A folder of files, gone after the test. */
export class Files {
  readonly folder = mkdtempSync(join(tmpdir(), 'headgate-files-'));

  write(files: Readonly<Record<string, string>>): this {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(this.folder, path)), { recursive: true });
      writeFileSync(join(this.folder, path), text);
    }
    return this;
  }

  link(path: string, target: string): this {
    mkdirSync(dirname(join(this.folder, path)), { recursive: true });
    symlinkSync(target, join(this.folder, path));
    return this;
  }

  /** Everything below, but what is in links. */
  list(path = ''): string[] {
    return readdirSync(join(this.folder, path), { withFileTypes: true })
      .flatMap((entry) => {
        const name = path === '' ? entry.name : `${path}/${entry.name}`;
        return entry.isDirectory() ? this.list(name) : [name];
      })
      .sort();
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
