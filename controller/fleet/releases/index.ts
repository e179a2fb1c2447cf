export { installScript } from './install-script.ts';
export * as releaseOperations from './operations.ts';
export { createReleases, type Releases } from './releases.ts';
