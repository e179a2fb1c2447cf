/** Builds the node agent into one executable. As a script: `node agent/build.ts [outfile]`. */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const CPU: Record<string, string> = { x64: 'x64', arm64: 'aarch64' };

/** The compiler's executable, by path: package managers may run no install scripts. */
export function bunPath(): string {
  const path = join(
    ROOT,
    `agent/bun/node_modules/@oven/bun-${process.platform}-${CPU[process.arch] ?? process.arch}/bin/bun`,
  );
  if (existsSync(path)) return path;
  throw new Error(
    `no compiler at ${path}: run make on a supported platform (Linux or macOS, x64 or arm64), or npm ci in agent/bun`,
  );
}

export interface BuildOptions {
  /** What it says that it is; `agent/version.ts` unless given. */
  version?: string;
  /** The runtime that becomes part of it, for another platform than this one. */
  runtime?: string;
}

/** Replaces `outfile` in one step: an agent that runs from it is not disturbed. */
export async function buildAgent(outfile: string, options: BuildOptions = {}): Promise<void> {
  const folder = dirname(outfile);
  mkdirSync(folder, { recursive: true });
  // The compiler names parts of the executable after the output: always the same gives the same executable.
  const half = join(folder, `.headgate-agent-${process.pid}`);
  const temporary = join(half, 'headgate-agent');
  const args = [
    'build',
    join(ROOT, 'agent/main.ts'),
    '--compile',
    '--minify',
    '--keep-names',
    '--bytecode',
    '--format=esm',
    // Otherwise the agent would take settings from files in whatever folder it is started in.
    '--no-compile-autoload-dotenv',
    '--no-compile-autoload-bunfig',
    ...(options.version ? ['--define', `HEADGATE_AGENT_VERSION=${JSON.stringify(options.version)}`] : []),
    ...(options.runtime ? [`--compile-executable-path=${options.runtime}`] : []),
    `--outfile=${temporary}`,
  ];
  try {
    mkdirSync(half);
    await promisify(execFile)(bunPath(), args, { cwd: ROOT });
    renameSync(temporary, outfile);
  } finally {
    rmSync(half, { recursive: true, force: true });
  }
}

if (import.meta.main) {
  await buildAgent(resolve(process.argv[2] ?? join(ROOT, 'dist/headgate-agent')));
}
