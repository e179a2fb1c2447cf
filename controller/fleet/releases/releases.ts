import type { Clock } from '../../../reconcilers/engine/clock.ts';
import type { AgentRelease } from '../../../schemas/api/releases.ts';
import type { Logger } from '../../platform/runtime/logger.ts';
import { type ReleaseOnDisk, readReleases, releaseOf } from './release-files.ts';

/** Agents that this controller serves. */
export interface Releases {
  /** What was found within the last minute counts, unless it is forced to look again. */
  list(force?: boolean): Promise<{ releases: readonly AgentRelease[]; checkedAt: Date }>;
  /** By version, or the newest of a channel by the channel's name. */
  find(version: string): Promise<ReleaseOnDisk | null>;
}

declare module '../../platform/operation/context.ts' {
  interface Services {
    releases: Releases;
  }
}

const FRESH_MS = 60_000;

/** `ownAgent` is served where the folder has no release at all: the one that was built on this machine. */
export function createReleases(options: {
  folder: string;
  ownAgent: string | null;
  baseUrl: string;
  clock: Clock;
  log: Logger;
}): Releases {
  const { folder, ownAgent, baseUrl, clock, log } = options;
  let found: Promise<{ releases: ReleaseOnDisk[]; checkedAt: number }> | undefined;
  let lookedAt = Number.NEGATIVE_INFINITY;
  /** Names of the last look. */
  let complained: ReadonlySet<string> = new Set();

  async function look() {
    const wrong = new Set<string>();
    const releases = await readReleases(folder, (name, reason) => {
      if (!complained.has(name)) log.warn({ folder, name, reason }, 'a release of the agent is not served');
      wrong.add(name);
    });
    complained = wrong;
    const own = releases.length === 0 && ownAgent !== null ? await releaseOf(ownAgent) : null;
    return { releases: own ? [own] : releases, checkedAt: clock.now() };
  }

  /** Those who ask at one moment share a look. */
  function current(force = false) {
    if (!found || force || clock.monotonic() > lookedAt + FRESH_MS) {
      lookedAt = clock.monotonic();
      found = look();
    }
    return found;
  }

  const published = ({ version, channel, releasedAt, files }: ReleaseOnDisk): AgentRelease => ({
    ...{ version, channel, releasedAt: new Date(releasedAt) },
    files: files.map(({ os, arch, libc, name, checksum, bytes, signature }) => ({
      ...{ os, arch, libc, checksum, bytes, signature },
      downloadUrl: `${baseUrl}/agent/releases/${version}/${name}`,
    })),
  });

  return {
    async list(force) {
      const { releases, checkedAt } = await current(force);
      return { releases: releases.map(published), checkedAt: new Date(checkedAt) };
    },
    async find(version) {
      const { releases } = await current();
      const matches = (release: ReleaseOnDisk) => release.version === version || release.channel === version;
      return releases.find(matches) ?? null;
    },
  };
}
