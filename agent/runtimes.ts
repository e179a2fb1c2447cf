/** The runtimes that become part of an agent, one for each platform of a release. They come from npm, pinned by checksum. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const ROOT = resolve(import.meta.dirname, '..');
const run = promisify(execFile);

export interface Target {
  arch: 'x64' | 'arm64';
  libc: 'glibc' | 'musl';
}

interface Runtime extends Target {
  package: string;
  /** As the registry names it, of the tarball of VERSION. */
  integrity: string;
}

/** The one of @oven/bun-linux-x64 in agent/bun/package.json: all platforms of a release have the same. */
const VERSION = '1.4.5';
const RUNTIMES: readonly Runtime[] = [
  {
    ...{ arch: 'x64', libc: 'glibc', package: '@oven/bun-linux-x64' },
    integrity:
      'sha512-IWX9BELoGHAUtMonkeSaNaZwXzRk+oDw6Mk+HBFXd3KHYIBNBsIGRupMZPcgNoDbJpLu6gAJjIoIVPZtt1aJ1g==',
  },
  {
    ...{ arch: 'x64', libc: 'musl', package: '@oven/bun-linux-x64-musl' },
    integrity:
      'sha512-10QoW/YfTgnURaGEaHpJCiXjLI2e5iTtfVDaA5JKcyUzaa1cq6cVUY9/Uq5XkYzvtRjHLRe9Oj/lTDIQcxy8HQ==',
  },
  {
    ...{ arch: 'arm64', libc: 'glibc', package: '@oven/bun-linux-aarch64' },
    integrity:
      'sha512-4BXmsSKnjOrlGWqZV4x/oWa7AVoR+B6lCXddMzOAXBIm3t50eslg9wb66gmtW1AamEQ1l1CDvmmruysEhqOWMg==',
  },
  {
    ...{ arch: 'arm64', libc: 'musl', package: '@oven/bun-linux-aarch64-musl' },
    integrity:
      'sha512-XCNc+WvvMAdNNb+OWTogpy+N9wm62fkVeEVLb6how0RZhW5LPi6c7BlkeVCuWps7XjEl2saFpHFa20/1E+PAHg==',
  },
];
export const TARGETS: readonly Target[] = RUNTIMES.map(({ arch, libc }) => ({ arch, libc }));

/**
 * Path of the runtime's executable: the installed one, or one that npm fetches once into a cache beside it. Throws where
 * what came is not what is pinned here.
 */
export async function runtimeOf({ arch, libc }: Target): Promise<string> {
  const runtime = RUNTIMES.find((one) => one.arch === arch && one.libc === libc);
  if (!runtime) throw new Error(`there is no runtime for ${arch} with ${libc}`);
  const installed = join(ROOT, 'agent/bun/node_modules', runtime.package);
  if (existsSync(join(installed, 'bin/bun'))) {
    const found = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as { version: string };
    if (found.version === VERSION) return join(installed, 'bin/bun');
    throw new Error(
      `${runtime.package} is ${found.version} and not ${VERSION}: bring agent/runtimes.ts up to date`,
    );
  }
  const folder = join(
    ROOT,
    'node_modules/.cache/headgate-runtimes',
    `${runtime.package.split('/')[1]}-${VERSION}`,
  );
  const executable = join(folder, 'package/bin/bun');
  if (!existsSync(executable)) await fetchRuntime(runtime, folder);
  return executable;
}

async function fetchRuntime(runtime: Runtime, folder: string): Promise<void> {
  const half = `${folder}.${process.pid}`;
  mkdirSync(half, { recursive: true });
  try {
    const spec = `${runtime.package}@${VERSION}`;
    const { stdout } = await run('npm', ['pack', spec, '--silent', '--pack-destination', half], {
      cwd: half,
    });
    const tarball = join(half, stdout.trim().split('\n').at(-1) ?? '');
    const integrity = `sha512-${createHash('sha512').update(readFileSync(tarball)).digest('base64')}`;
    if (integrity !== runtime.integrity)
      throw new Error(`${spec} is not what agent/runtimes.ts pins: its checksum is ${integrity}`);
    await run('tar', ['-xzf', tarball, '-C', half]);
    rmSync(tarball);
    rmSync(folder, { recursive: true, force: true });
    renameSync(half, folder);
  } finally {
    rmSync(half, { recursive: true, force: true });
  }
}
