/** The `headgate` command as a user or a CI job runs it, as a process or in this one, with nothing of our environment. */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { runCommand } from '../../../controller/cli/run-command.ts';

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

/** A process of its own: what is of the launcher, the streams, and the exit code. */
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

/**
 * The same command in this process, in a tenth of the time: what it finds, writes and answers. One at a time, since it stands
 * in `cwd`, and puts temporary files where `TMPDIR` says.
 */
export async function headgateInProcess(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const cwd = options.cwd ?? tmpdir();
  const env: Record<string, string> = {
    ...{ PATH: process.env.PATH ?? '', HOME: '/nonexistent' },
    ...options.env,
  };
  const former = { cwd: process.cwd(), TMPDIR: process.env.TMPDIR };
  let [stdout, stderr] = ['', ''];
  const io = {
    out(text: string) {
      stdout += text;
    },
    err(text: string) {
      stderr += text;
    },
    ...{ env, cwd },
  };
  process.chdir(cwd);
  if (env.TMPDIR !== undefined) process.env.TMPDIR = env.TMPDIR;
  try {
    return { code: await runCommand(args, io), stdout, stderr };
  } finally {
    process.chdir(former.cwd);
    if (former.TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = former.TMPDIR;
  }
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
