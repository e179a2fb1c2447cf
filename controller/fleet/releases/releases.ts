import type { Clock } from '../../../reconcilers/loops/clock.ts';
import type { AgentRelease } from '../../../schemas/api/fleet/releases.ts';
import type { Logger } from '../../platform/runtime/logger.ts';
import { describeExecutable, type ReleaseOnDisk, readReleases } from './release-files.ts';

/** Agents that this controller serves. */
export interface Releases {
  /** Returns the last scan if it is at most a minute old; `force` scans again. */
  list(force?: boolean): Promise<{ releases: readonly AgentRelease[]; checkedAt: Date }>;
  /** Finds a release by version, or the newest of a channel by the channel's name. */
  find(version: string): Promise<ReleaseOnDisk | null>;
}

declare module '../../platform/operation/context.ts' {
  interface Services {
    releases: Releases;
  }
}

const MAX_AGE_MS = 60_000;

/** `ownAgent` is the executable that was built on this machine; it is served when the folder has no release at all. */
export function createReleases(options: {
  folder: string;
  ownAgent: string | null;
  baseUrl: string;
  clock: Clock;
  log: Logger;
}): Releases {
  const { folder, ownAgent, baseUrl, clock, log } = options;
  let lastScan: Promise<{ releases: ReleaseOnDisk[]; checkedAt: number }> | undefined;
  let scannedAt = Number.NEGATIVE_INFINITY;
  /** Names that the last scan reported as invalid. */
  let reported: ReadonlySet<string> = new Set();

  async function scan() {
    const invalid = new Set<string>();
    const releases = await readReleases(folder, (name, reason) => {
      if (!reported.has(name)) log.warn({ folder, name, reason }, 'a release of the agent is not served');
      invalid.add(name);
    });
    reported = invalid;
    const own = releases.length === 0 && ownAgent !== null ? await describeExecutable(ownAgent) : null;
    return { releases: own ? [own] : releases, checkedAt: clock.now() };
  }

  /** Concurrent requests share one scan. */
  function current(force = false) {
    if (!lastScan || force || clock.monotonic() > scannedAt + MAX_AGE_MS) {
      scannedAt = clock.monotonic();
      lastScan = scan();
    }
    return lastScan;
  }

  const present = ({ version, channel, releasedAt, files }: ReleaseOnDisk): AgentRelease => ({
    ...{ version, channel, releasedAt: new Date(releasedAt) },
    files: files.map(({ os, arch, libc, name, checksum, bytes, signature }) => ({
      ...{ os, arch, libc, checksum, bytes, signature },
      downloadUrl: `${baseUrl}/agent/releases/${version}/${name}`,
    })),
  });

  return {
    async list(force) {
      const { releases, checkedAt } = await current(force);
      return { releases: releases.map(present), checkedAt: new Date(checkedAt) };
    },
    async find(version) {
      const { releases } = await current();
      const matches = (release: ReleaseOnDisk) => release.version === version || release.channel === version;
      return releases.find(matches) ?? null;
    },
  };
}
