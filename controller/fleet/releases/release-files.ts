/** Reads releases of the agent from disk: one folder per version, as `make agent-release` writes it. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import Type, { type Static } from 'typebox';
import { AgentVersion } from '../../../schemas/api/fleet/fleet.ts';
import { validator } from '../../../schemas/validate.ts';

/** One executable. */
const StoredFile = Type.Object({
  os: Type.Literal('linux'),
  arch: Type.Enum(['x64', 'arm64']),
  libc: Type.Enum(['glibc', 'musl']),
  name: Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$' }),
  checksum: Type.String({ pattern: '^sha256:[0-9a-f]{64}$' }),
  bytes: Type.Integer({ minimum: 1 }),
  signature: Type.Union([Type.String({ pattern: '^[A-Za-z0-9+/]{86}==$' }), Type.Null()]),
});
/** The content of `release.json`. */
const StoredRelease = Type.Object({
  version: AgentVersion,
  channel: Type.Enum(['stable', 'dev']),
  releasedAt: Type.String({ format: 'date-time' }),
  files: Type.Array(StoredFile, { minItems: 1, maxItems: 20 }),
});

export interface ReleaseOnDisk extends Omit<Static<typeof StoredRelease>, 'files'> {
  files: (Static<typeof StoredFile> & { path: string })[];
}

const MAX_RELEASES = 1_000;
const JSON_BYTES = 64 * 1024;

/**
 * Newest first. An incomplete or malformed release is reported to `onInvalid` and left out. A missing folder holds no releases.
 */
export async function readReleases(
  folder: string,
  onInvalid: (name: string, reason: string) => void,
): Promise<ReleaseOnDisk[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const names = entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'));
  const releases: ReleaseOnDisk[] = [];
  for (const { name } of names.slice(0, MAX_RELEASES)) {
    try {
      releases.push(await readRelease(folder, name));
    } catch (error) {
      onInvalid(name, error instanceof Error ? error.message : String(error));
    }
  }
  return releases.sort(newestFirst);
}

async function readRelease(folder: string, name: string): Promise<ReleaseOnDisk> {
  const file = join(folder, name, 'release.json');
  if ((await stat(file)).size > JSON_BYTES) throw new Error('release.json is too large');
  const release: unknown = JSON.parse(await readFile(file, 'utf8'));
  const [issue] = validator(StoredRelease).issues(release);
  if (issue) throw new Error(`release.json${issue.path} ${issue.message}`);
  const { files, ...rest } = release as Static<typeof StoredRelease>;
  if (rest.version !== name)
    throw new Error(`release.json is for version ${rest.version}, and the folder is named ${name}`);
  const found = files.map((file) => ({ ...file, path: join(folder, name, file.name) }));
  for (const { path, bytes } of found) {
    if ((await stat(path)).size !== bytes)
      throw new Error(`${path} does not have the ${bytes} bytes that release.json names`);
  }
  return { ...rest, files: found };
}

const NUMBERS = /^v?(\d+)\.(\d+)\.(\d+)(-)?/;

/** Stable versions sort by number, a version with a suffix before the one without; dev versions sort by time. */
export function newestFirst(a: ReleaseOnDisk, b: ReleaseOnDisk): number {
  const [first, second] = [NUMBERS.exec(a.version), NUMBERS.exec(b.version)];
  if (first && second) {
    for (const part of [1, 2, 3]) {
      const difference = Number(second[part]) - Number(first[part]);
      if (difference !== 0) return difference;
    }
    if (first[4] !== second[4]) return first[4] ? 1 : -1;
  }
  return Date.parse(b.releasedAt) - Date.parse(a.releasedAt);
}

/** Describes an agent that was built on this machine, for machines like it. Null if it does not report its version. */
export async function describeExecutable(executable: string): Promise<ReleaseOnDisk | null> {
  const { arch, platform } = process;
  if (platform !== 'linux' || (arch !== 'x64' && arch !== 'arm64')) return null;
  try {
    const { size, mtime } = await stat(executable);
    const options = { timeout: 10_000, env: {}, cwd: '/' };
    const version = (await promisify(execFile)(executable, ['--version'], options)).stdout.trim();
    if (validator(AgentVersion).issues(version).length > 0) return null;
    const hash = createHash('sha256');
    await pipeline(createReadStream(executable), hash);
    const file = {
      ...{ os: 'linux' as const, arch, libc: 'glibc' as const, name: `headgate-agent-linux-${arch}` },
      ...{ checksum: `sha256:${hash.digest('hex')}`, bytes: size, signature: null, path: executable },
    };
    const channel = version.startsWith('dev-') ? 'dev' : 'stable';
    return { version, channel, releasedAt: mtime.toISOString(), files: [file] };
  } catch {
    return null;
  }
}
