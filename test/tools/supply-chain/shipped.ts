/**
 * Which npm packages of the lockfile are shipped: what the controller and the agent load, and what is built into the web UI
 * (a development dependency, since nobody installs it). Tools of builds and tests are not.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

export const ROOT = resolve(import.meta.dirname, '../../..');
const IMPORT = /(?:from|import)\s*\(?\s*'((?:@[\w.-]+\/)?[\w.-]+)[^']*'/g;

export interface LockedPackage {
  version: string;
  integrity?: string;
  license?: string;
  resolved?: string;
  hasInstallScript?: true;
  dev?: true;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}

/** By path (`node_modules/koa`), the project itself at the empty one. */
export type Lock = Record<string, LockedPackage>;

export function readLock(): Lock {
  return (JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as { packages: Lock }).packages;
}

export const nameOf = (path: string): string =>
  path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);

/** Packages that sources of the web UI name. */
function inTheWebUi(): Set<string> {
  const folder = join(ROOT, 'web/src');
  const names = new Set<string>();
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
    if (/\.tsx?$/.test(file))
      for (const [, name] of readFileSync(join(folder, file), 'utf8').matchAll(IMPORT))
        if (name) names.add(name);
  return names;
}

/** Where Node finds `name` for the package at `from`: beside it, or beside one that it is in. */
function find(lock: Lock, from: string, name: string): string | null {
  const around =
    from === ''
      ? []
      : from
          .split('/node_modules/')
          .map((_, depth, parts) => parts.slice(0, depth + 1).join('/node_modules/'));
  const places = [...around.reverse().map((at) => `${at}/node_modules/${name}`), `node_modules/${name}`];
  return places.find((path) => lock[path]) ?? null;
}

/** Their paths in the lockfile: all that an installation without development dependencies holds, and the web UI. */
export function shippedPackages(lock: Lock = readLock()): Set<string> {
  const installed = Object.keys(lock).filter((path) => path !== '' && !lock[path]?.dev);
  const shipped = new Set(installed);
  const bundled = inTheWebUi();
  const waiting = Object.keys(lock['']?.devDependencies ?? {})
    .filter((name) => bundled.has(name))
    .map((name) => ({ from: '', name }));
  for (let next = waiting.shift(); next; next = waiting.shift()) {
    const path = find(lock, next.from, next.name);
    if (path === null || shipped.has(path)) continue;
    shipped.add(path);
    // A peer that is needed is named by the project itself.
    const { dependencies, optionalDependencies } = lock[path] ?? {};
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies }))
      waiting.push({ from: path, name });
  }
  return shipped;
}
