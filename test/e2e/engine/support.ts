import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildEngine } from '../../../examples/engine/build.ts';

export { freePort } from '../../support/harness/headgate.ts';

let built: Promise<string> | undefined;
let buildFolder: string | undefined;

/** The path of a freshly compiled engine; built once in a test run. */
export function engineBinary(): Promise<string> {
  buildFolder ??= mkdtempSync(join(tmpdir(), 'engine-bin-'));
  built ??= buildEngine(join(buildFolder, 'headgate-engine'));
  return built;
}

after(() => {
  if (buildFolder) rmSync(buildFolder, { recursive: true });
  buildFolder = undefined;
  built = undefined;
});

export interface Finished {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

/** A folder for one test with the engines that run in it; `dispose` ends and removes everything. */
export class Bench {
  readonly folder = mkdtempSync(join(tmpdir(), 'engine-e2e-'));
  readonly #children: ChildProcess[] = [];

  file(name: string, text: string): string {
    const path = join(this.folder, name);
    writeFileSync(path, text);
    return path;
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  async start(
    args: string[],
    env: Record<string, string> = {},
    stdin: 'ignore' | 'pipe' = 'ignore',
  ): Promise<RunningEngine> {
    const child = spawn(await engineBinary(), args, {
      cwd: this.folder,
      env: { PATH: '/usr/bin:/bin', ...env },
      stdio: [stdin, 'pipe', 'pipe'],
    });
    this.#children.push(child);
    return new RunningEngine(child);
  }

  async run(args: string[], env: Record<string, string> = {}): Promise<Finished> {
    return (await this.start(args, env)).finished;
  }

  async dispose(): Promise<void> {
    for (const child of this.#children) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    rmSync(this.folder, { recursive: true });
  }
}

export class RunningEngine {
  readonly child: ChildProcess;
  readonly finished: Promise<Finished>;
  stdout = '';
  stderr = '';

  constructor(child: ChildProcess) {
    this.child = child;
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text;
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
    });
    this.finished = new Promise((resolve) => {
      child.on('close', (code, signal) =>
        resolve({ code, signal, stdout: this.stdout, stderr: this.stderr }),
      );
    });
  }
}
