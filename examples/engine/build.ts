import { execFile } from 'node:child_process';
import { chmod, mkdir, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const HERE = dirname(fileURLToPath(import.meta.url));
const DEFAULT_OUTFILE = join(HERE, '../../dist/headgate-engine');

const BUN_PACKAGES: Record<string, string> = {
  'linux-x64': '@oven/bun-linux-x64',
  'linux-arm64': '@oven/bun-linux-aarch64',
  'darwin-x64': '@oven/bun-darwin-x64',
  'darwin-arm64': '@oven/bun-darwin-aarch64',
};

/**
 * Compiles the engine into one executable for this machine. The file appears whole or not at all,
 * so a running engine keeps its old one. Throws with Bun's output if the build fails.
 */
export async function buildEngine(outfile: string = DEFAULT_OUTFILE): Promise<string> {
  const target = resolve(outfile);
  const temporary = join(dirname(target), `.${basename(target)}.${process.pid}.tmp`);
  await mkdir(dirname(target), { recursive: true });
  try {
    await promisify(execFile)(
      bunPath(),
      [
        'build',
        join(HERE, 'main.ts'),
        '--compile',
        '--minify',
        // Bytecode halves the start; top-level await needs the ESM form of it.
        '--bytecode',
        '--format=esm',
        // An executable would otherwise obey `.env` and `bunfig.toml` of the folder it is started in.
        '--no-compile-autoload-dotenv',
        '--no-compile-autoload-bunfig',
        `--outfile=${temporary}`,
      ],
      // Bun writes intermediate files to its working folder.
      { cwd: dirname(target), maxBuffer: 16 * 1024 * 1024 },
    );
    await chmod(temporary, 0o755);
    await rename(temporary, target);
  } finally {
    await rm(temporary, { force: true });
  }
  return target;
}

function bunPath(): string {
  const platform = `${process.platform}-${process.arch}`;
  const name = BUN_PACKAGES[platform];
  if (!name)
    throw new Error(
      `There is no Bun for ${platform}; the engine can be built on ${Object.keys(BUN_PACKAGES).join(', ')}.`,
    );
  try {
    return createRequire(import.meta.url).resolve(`${name}/bin/bun`);
  } catch {
    throw new Error(`The package ${name} is not installed; run npm ci first.`);
  }
}

if (import.meta.main) {
  await buildEngine(process.argv[2]);
}
