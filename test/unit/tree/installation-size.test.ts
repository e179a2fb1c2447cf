/** How much `make run` puts on a disk. What tests need is not among it, and what only builds need is gone afterwards. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Folder, type LockedPackage, ROOT, readLock } from '../../tools/supply-chain/shipped.ts';

const MOST_PACKAGES = 400;
const MOST_BYTES = 500e6;
/** The C headers of Node.js, which make removes and npm alone does not. */
const HEADERS = /^node_modules\/node-linux-\w+\/include\//;

const isForThisMachine = ({ os, cpu, libc }: LockedPackage): boolean =>
  (!os || os.includes(process.platform)) &&
  (!cpu || cpu.includes(process.arch)) &&
  (!libc || libc.includes('glibc'));

const nameOf = (path: string): string =>
  path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);

/**
 * Paths in the lockfile of the folder of what npm installs on this machine. An optional package that only packages for
 * other machines need is left out, as npm does.
 */
function packagesOf(folder: Folder, options: { dev: boolean }): string[] {
  let left = Object.entries(readLock(folder)).filter(([, one]) => isForThisMachine(one));
  for (let before = Infinity; left.length < before; ) {
    before = left.length;
    const needed = new Set(
      left.flatMap(([, one]) => Object.keys({ ...one.dependencies, ...one.optionalDependencies })),
    );
    left = left.filter(([path, one]) => !one.optional || needed.has(nameOf(path)));
  }
  return left.filter(([path, one]) => path !== '' && (options.dev || !one.dev)).map(([path]) => path);
}

/** Paths of the files in and below the folder, and not in packages that lie in it. Links are not followed. */
function filesIn(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : filesIn(path);
    return entry.isFile() ? [path] : [];
  });
}

describe('what make run installs', () => {
  it(`is ${MOST_PACKAGES} packages at most, with those that build the UI and the agent`, () => {
    const packages = [
      ...packagesOf('.', { dev: false }),
      ...packagesOf('web', { dev: true }),
      ...packagesOf('agent/bun', { dev: true }),
    ];
    expect(packages.length).to.be.at.most(MOST_PACKAGES);
  });

  it(`takes ${MOST_BYTES / 1e6} MB at most, with what it builds`, () => {
    const files = [
      ...packagesOf('.', { dev: false }).flatMap(filesIn),
      ...['dist/engine', 'dist/web'].flatMap(filesIn),
      ...['dist/headgate-agent', 'dist/headgate-engine'],
    ].filter((path) => !HEADERS.test(path));
    const bytes = files.reduce((sum, path) => sum + statSync(join(ROOT, path)).size, 0);
    expect(bytes).to.be.at.most(MOST_BYTES);
  });
});
