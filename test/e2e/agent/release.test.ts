/** Building a release: what lies in its folder, that building again gives the same, and that its signature holds. */

import { spawnSync } from 'node:child_process';
import { createHash, generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { buildRelease } from '../../../agent/release.ts';
import { runtimeOf, TARGETS } from '../../../agent/runtimes.ts';
import { checkSignature, readPublicKey } from '../../../agent/update/verify.ts';
import { readReleases } from '../../../controller/fleet/releases/release-files.ts';

const HOST = { arch: process.arch === 'arm64' ? 'arm64' : 'x64', libc: 'glibc' } as const;
const NAME = `headgate-agent-linux-${HOST.arch}`;

describe('a release of the agent', function () {
  this.timeout(30_000);
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  let out: string;
  const build = () =>
    buildRelease({
      ...{ version: 'dev-1a2b3c4', out, targets: [HOST], key: privateKey },
      releasedAt: new Date(1_000).toISOString(),
    });

  before(function () {
    if (process.platform !== 'linux') this.skip();
    out = mkdtempSync(join(tmpdir(), 'headgate-release-'));
  });
  after(() => rmSync(out, { recursive: true, force: true }));

  it('is a folder of its version, which says it, with sums and a signature that holds', async () => {
    const { files, channel } = await build();
    expect(channel).to.equal('dev');
    const folder = join(out, 'dev-1a2b3c4');
    expect(readdirSync(out)).to.deep.equal(['dev-1a2b3c4']);
    expect(readdirSync(folder).sort()).to.deep.equal(
      ['SHA256SUMS', NAME, `${NAME}.sig`, 'release.json'].sort(),
    );
    const said = spawnSync(join(folder, NAME), ['--version'], { encoding: 'utf8' });
    expect(said.stdout).to.equal('dev-1a2b3c4\n');
    const digest = createHash('sha256')
      .update(readFileSync(join(folder, NAME)))
      .digest();
    expect(readFileSync(join(folder, 'SHA256SUMS'), 'utf8')).to.equal(`${digest.toString('hex')}  ${NAME}\n`);
    expect(files[0]?.checksum).to.equal(`sha256:${digest.toString('hex')}`);
    const raw = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64');
    const key = readPublicKey(raw);
    if (!key) throw new Error('the key is not read');
    const release = { ...HOST, version: 'dev-1a2b3c4', os: 'linux', sha256: digest.toString('hex') };
    checkSignature(key, release, readFileSync(join(folder, `${NAME}.sig`), 'utf8').trim());
  });

  it('is the same to the byte when it is built again, and replaces the one before', async () => {
    const [first, second] = [await build(), await build()];
    expect(second).to.deep.equal(first);
    expect(readdirSync(out)).to.deep.equal(['dev-1a2b3c4']);
  });

  it('is read by the controller as it lies there', async () => {
    const complaints: string[] = [];
    const [release] = await readReleases(out, (name, reason) => complaints.push(`${name}: ${reason}`));
    expect(complaints).to.deep.equal([]);
    expect(release).to.deep.include({ version: 'dev-1a2b3c4', channel: 'dev' });
    expect(release?.files[0]?.signature).to.match(/^[A-Za-z0-9+/]{86}==$/);
  });

  it('has a runtime for every platform, of the version of the compiler that is installed', async () => {
    expect(TARGETS.map(({ arch, libc }) => `${arch} ${libc}`)).to.deep.equal([
      ...['x64 glibc', 'x64 musl', 'arm64 glibc', 'arm64 musl'],
    ]);
    // Throws where the pinned version and the installed one are two.
    expect(await runtimeOf(HOST)).to.match(/node_modules\/@oven\/bun-linux-/);
    const wanted = JSON.parse(
      readFileSync(join(import.meta.dirname, '../../../agent/bun/package.json'), 'utf8'),
    ) as {
      optionalDependencies: Record<string, string>;
    };
    const pinned = /const VERSION = '(.*)';/.exec(
      readFileSync(join(import.meta.dirname, '../../../agent/runtimes.ts'), 'utf8'),
    )?.[1];
    expect(wanted.optionalDependencies['@oven/bun-linux-x64']).to.equal(pinned);
  });
});
