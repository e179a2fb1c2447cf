/**
 * Builds a release of the agent for every platform: `make agent-release`, or
 * `node agent/release.ts [--channel stable|dev] [--out <folder>] [--only <arch>-<libc>,…]`. The folder gets one for the
 * version with the executables, SHA256SUMS, release.json, and signatures where HEADGATE_RELEASE_KEY names a file with a
 * private Ed25519 key (PEM).
 */
import { execFileSync } from 'node:child_process';
import { createHash, createPrivateKey, type KeyObject, sign } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { buildAgent } from './build.ts';
import { runtimeOf, TARGETS, type Target } from './runtimes.ts';
import { releaseStatement } from './update/release-statement.ts';
import { AGENT_VERSION } from './version.ts';

const ROOT = resolve(import.meta.dirname, '..');

export interface BuiltFile {
  os: 'linux';
  arch: Target['arch'];
  libc: Target['libc'];
  /** File name beside release.json. */
  name: string;
  /** `sha256:<hex>` */
  checksum: string;
  bytes: number;
  /** Base64 of the Ed25519 signature over the release statement (agent/update/release-statement.ts). */
  signature: string | null;
}

/** What release.json holds. */
export interface BuiltRelease {
  version: string;
  channel: 'stable' | 'dev';
  /** ISO time. */
  releasedAt: string;
  files: BuiltFile[];
}

export interface ReleaseOptions {
  version: string;
  /** Gets a folder named after the version; one of an earlier build is replaced in one step. */
  out: string;
  targets?: readonly Target[];
  key?: KeyObject;
  releasedAt: string;
  progress?: (step: string) => void;
}

export async function buildRelease(options: ReleaseOptions): Promise<BuiltRelease> {
  const { version, out, targets = TARGETS, key, releasedAt, progress = () => {} } = options;
  const half = join(out, `.${version}.${process.pid}`);
  mkdirSync(half, { recursive: true });
  try {
    const files: BuiltFile[] = [];
    for (const { arch, libc } of targets) {
      const name = `headgate-agent-linux-${arch}${libc === 'musl' ? '-musl' : ''}`;
      progress(`${version} for linux ${arch} with ${libc}`);
      await buildAgent(join(half, name), { version, runtime: await runtimeOf({ arch, libc }) });
      const data = readFileSync(join(half, name));
      const sha256 = createHash('sha256').update(data).digest('hex');
      const statement = releaseStatement({ version, os: 'linux', arch, sha256 });
      const signature = key ? sign(null, statement, key).toString('base64') : null;
      if (signature) writeFileSync(join(half, `${name}.sig`), `${signature}\n`);
      const checksum = `sha256:${sha256}`;
      files.push({ os: 'linux', arch, libc, name, checksum, bytes: data.length, signature });
    }
    const channel = version.startsWith('dev-') ? 'dev' : 'stable';
    const release: BuiltRelease = { version, channel, releasedAt, files };
    const sums = files.map(({ name, checksum }) => `${checksum.slice('sha256:'.length)}  ${name}\n`).join('');
    writeFileSync(join(half, 'SHA256SUMS'), sums);
    writeFileSync(join(half, 'release.json'), `${JSON.stringify(release, null, 2)}\n`);
    rmSync(join(out, version), { recursive: true, force: true });
    renameSync(half, join(out, version));
    return release;
  } finally {
    rmSync(half, { recursive: true, force: true });
  }
}

const git = (...args: string[]) =>
  execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();

/** Of the commit, so that building it again gives the same; now, where there is no repository. */
function releaseTime(): string {
  const epoch = process.env.SOURCE_DATE_EPOCH;
  try {
    return new Date(Number(epoch ?? git('log', '-1', '--format=%ct')) * 1_000).toISOString();
  } catch {
    return new Date().toISOString();
  }
}

function releaseKey(file: string | undefined): KeyObject | undefined {
  if (!file) return undefined;
  const key = createPrivateKey(readFileSync(file));
  if (key.asymmetricKeyType === 'ed25519') return key;
  throw new Error(
    `HEADGATE_RELEASE_KEY: ${file} holds no Ed25519 key; make one with: openssl genpkey -algorithm ed25519`,
  );
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      channel: { type: 'string', default: 'stable' },
      out: { type: 'string' },
      only: { type: 'string' },
    },
  });
  if (values.channel !== 'stable' && values.channel !== 'dev')
    throw new Error('--channel must be stable or dev (make agent-release CHANNEL=dev)');
  const only = values.only?.split(',');
  const targets = TARGETS.filter(({ arch, libc }) => !only || only.includes(`${arch}-${libc}`));
  if (targets.length === 0 || (only && targets.length !== only.length))
    throw new Error(`--only takes ${TARGETS.map(({ arch, libc }) => `${arch}-${libc}`).join(', ')}`);
  const out = resolve(values.out ?? join(ROOT, 'dist/agent-release'));
  const version = values.channel === 'dev' ? `dev-${git('rev-parse', '--short=10', 'HEAD')}` : AGENT_VERSION;
  const say = (line: string) => process.stdout.write(`${line}\n`);
  const release = await buildRelease({
    version,
    out,
    targets,
    key: releaseKey(process.env.HEADGATE_RELEASE_KEY),
    releasedAt: releaseTime(),
    progress: (step) => say(`  ${step} …`),
  });
  say(`${join(out, version)}:`);
  for (const { name, checksum, bytes, signature } of release.files)
    say(`  ${checksum.slice(7)}  ${name}  ${Math.round(bytes / 1e6)} MB${signature ? ', signed' : ''}`);
}

if (import.meta.main) {
  await main().catch((error: unknown) => {
    process.stderr.write(`agent release: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  });
}
