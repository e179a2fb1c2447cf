/**
 * Builds the engine: as a script, `node examples/engine/build.ts [outfile]`. What comes out is a small program for the
 * shell, and beside it the folder `engine` with the sources in one bundle, VRL in WebAssembly, and a link to the runtime,
 * which is the one inside the agent: a second copy of it would take 100 MB.
 */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';

const HERE = import.meta.dirname;
const DIST = join(HERE, '../../dist');
const VEREL = '@bpinternal/verel/dist/node/index.js';
/** An executable that Bun compiled acts as Bun itself with this. */
const AS_BUN = { BUN_BE_BUN: '1', BUN_OPTIONS: '' };

/** `--config` and `--no-env-file`: a runtime would otherwise obey files of the folder that it is started in. */
const LAUNCHER = `#!/bin/sh
# Runs the engine in the folder beside this file.
case $0 in */*) here=\${0%/*} ;; *) here=. ;; esac
[ -L "$0" ] && here=$(dirname "$(readlink -f "$0")")
BUN_BE_BUN=1 BUN_OPTIONS= exec "$here/engine/headgate-engine" --no-install --no-env-file --config=/dev/null "$here/engine/main.js" "$@"
`;

/**
 * The folder appears whole or not at all, and then `outfile`. An engine that runs keeps what it has loaded. Throws with the
 * bundler's output where the build fails.
 */
export async function buildEngine(
  outfile: string = join(DIST, 'headgate-engine'),
  runtime: string = join(DIST, 'headgate-agent'),
): Promise<string> {
  const target = resolve(outfile);
  const folder = join(dirname(target), 'engine');
  const half = `${folder}.${process.pid}`;
  await mkdir(half, { recursive: true });
  try {
    await bundle(half, runtime);
    await symlink(relative(folder, runtime), join(half, 'headgate-engine'));
    await rm(folder, { recursive: true, force: true });
    await rename(half, folder);
    await writeFile(`${target}.${process.pid}`, LAUNCHER, { mode: 0o755 });
    await rename(`${target}.${process.pid}`, target);
  } finally {
    await rm(half, { recursive: true, force: true });
  }
  return target;
}

async function bundle(into: string, runtime: string): Promise<void> {
  const sources = await mkdtemp(join(tmpdir(), 'headgate-engine-build-'));
  try {
    const tsconfig = join(sources, 'tsconfig.json');
    const paths = { [VEREL]: [await unpackVerel(sources, into)] };
    await writeFile(tsconfig, JSON.stringify({ compilerOptions: { paths } }));
    await promisify(execFile)(
      runtime,
      [
        'build',
        join(HERE, 'main.ts'),
        '--target=bun',
        '--minify',
        // An engine that only checks a config loads a part of it.
        '--splitting',
        '--format=esm',
        `--tsconfig-override=${tsconfig}`,
        `--outdir=${into}`,
      ],
      { cwd: sources, env: { ...process.env, ...AS_BUN }, maxBuffer: 16 * 1024 * 1024 },
    );
  } finally {
    await rm(sources, { recursive: true, force: true });
  }
}

/**
 * The package holds its WebAssembly as 12 MB of Base64 in its source. As a file of its own it takes a third less, and an
 * engine that loads it 10 MB less memory. Returns the path of the module that reads that file.
 */
async function unpackVerel(sources: string, into: string): Promise<string> {
  const source = await readFile(createRequire(import.meta.url).resolve(VEREL), 'utf8');
  const encoded = /var bin = \[([^\]]*)\]\.join\(""\);\s*var bytes = Buffer\.from\(bin, "base64"\);/.exec(
    source,
  );
  const exported = /^module\.exports = /m;
  if (!encoded?.[1] || !exported.test(source))
    throw new Error(`${VEREL} is not written as this build expects it: look for its WebAssembly`);
  await writeFile(join(into, 'verel.wasm'), Buffer.from(encoded[1].replace(/[^\w+/=]/g, ''), 'base64'));
  const read = "var bytes = require('node:fs').readFileSync(new URL('verel.wasm', import.meta.url));";
  const module = join(sources, 'verel.mjs');
  await writeFile(module, source.replace(encoded[0], () => read).replace(exported, 'export default '));
  return module;
}

if (import.meta.main) {
  await buildEngine(process.argv[2]);
}
