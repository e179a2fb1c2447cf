/**
 * Which npm packages of the lockfiles are shipped: what the controller loads, what is built into the web UI, and the runtime
 * inside the agent. Each folder with a package.json has its own lockfile; what is only built or tested with is a
 * development dependency there.
 */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

export const ROOT = resolve(import.meta.dirname, '../../..');
/** The project itself, and those whose packages become part of what it ships. */
export const SHIPPED_FOLDERS = ['.', 'web', 'agent/bun'] as const;
export const FOLDERS = [...SHIPPED_FOLDERS, 'test/tools/openapi'] as const;
export type Folder = (typeof FOLDERS)[number];

export interface LockedPackage {
  version: string;
  integrity?: string;
  license?: string;
  resolved?: string;
  hasInstallScript?: true;
  dev?: true;
  optional?: true;
  os?: string[];
  cpu?: string[];
  libc?: string[];
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}

/** By path (`node_modules/koa`), the project itself at the empty one. */
export type Lock = Record<string, LockedPackage>;

export const readLock = (folder: Folder): Lock =>
  (JSON.parse(readFileSync(join(ROOT, folder, 'package-lock.json'), 'utf8')) as { packages: Lock }).packages;

export const nameOf = (path: string): string =>
  path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);

/** Their paths in the lockfile of the folder. */
export function shippedPackages(folder: Folder, lock: Lock = readLock(folder)): Set<string> {
  if (!SHIPPED_FOLDERS.some((one) => one === folder)) return new Set();
  return new Set(Object.keys(lock).filter((path) => path !== '' && !lock[path]?.dev));
}
