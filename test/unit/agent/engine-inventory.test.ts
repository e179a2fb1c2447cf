/** What an agent reports of its engine's component types, from executables that print them. */
import { chmodSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createLogger } from '../../../agent/log.ts';
import { EngineComponents, parseComponents } from '../../../agent/report/engine-inventory.ts';
import { type ManualClock, manualClock } from '../../../reconcilers/loops/clock.ts';
import { until } from '../../support/harness/until.ts';

const LISTS = {
  sources: ['stdin', 'file'],
  transforms: ['remap'],
  sinks: ['console'],
  enrichment_tables: [],
};

describe('the component types of a node’s engine', () => {
  let folder: string;
  let bin: string;
  let banners: string[];
  let clock: ManualClock;
  let components: EngineComponents;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'engine-list-'));
    bin = join(folder, 'engine');
    banners = [];
    clock = manualClock();
    components = new EngineComponents({
      engineBin: bin,
      env: { PATH: '/usr/bin:/bin', SVC_TOKEN: 'hidden' },
      clock,
      log: createLogger('error'),
      onVersion: (banner) => banners.push(banner),
    });
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** A new file in its place, as an installer makes it. */
  const install = (script: string) => {
    writeFileSync(`${bin}.new`, `#!/bin/sh\necho "$*" >> ${folder}/calls\n${script}\n`);
    chmodSync(`${bin}.new`, 0o755);
    renameSync(`${bin}.new`, bin);
  };
  const calls = () => {
    try {
      return readFileSync(join(folder, 'calls'), 'utf8').trim().split('\n');
    } catch {
      return [];
    }
  };
  const printing = (lists: object, banner = 'vector 0.57.0 (x)') =>
    `test -z "$SVC_TOKEN" || exit 1
     case $1 in --version) echo '${banner}';; *) echo '${JSON.stringify(lists)}';; esac`;
  const reported = async (): Promise<string> => {
    await until(() => components.report() !== undefined, { what: 'the report', timeoutMs: 10_000 });
    return components.report()?.componentsDigest ?? '';
  };

  it('are asked for after the first heartbeat, once, and sent as a digest', async () => {
    install(printing(LISTS));
    expect(components.report()).to.equal(undefined);
    expect(calls()).to.deep.equal([]);
    components.delivered(false);
    await reported();
    components.delivered(false);
    components.delivered(false);
    expect(components.report()).to.have.keys('componentsDigest');
    expect(components.report()?.componentsDigest).to.match(/^sha256:[0-9a-f]{64}$/);
    expect(calls()).to.deep.equal(['--version', 'list --format json']);
  });

  it('are sent whole while the controller asks for them', async () => {
    install(printing(LISTS));
    components.delivered(false);
    await reported();
    components.delivered(true);
    expect(components.report()?.components).to.deep.equal({
      ...{ sources: ['stdin', 'file'], transforms: ['remap'], sinks: ['console'], enrichmentTables: [] },
    });
    components.delivered(false);
    expect(components.report()).not.to.have.property('components');
  });

  it('are asked for again when the executable is another one, with its version', async () => {
    install(printing(LISTS));
    components.delivered(false);
    const first = await reported();
    install(printing({ ...LISTS, sinks: ['http'] }, 'vector 0.58.0 (x)'));
    components.delivered(false);
    await until(() => ![undefined, first].includes(components.report()?.componentsDigest), {
      what: 'another digest',
      timeoutMs: 10_000,
    });
    expect(banners, 'the old one is not taken for the new one’s').to.deep.equal([
      ...['vector 0.57.0 (x)', '', 'vector 0.58.0 (x)'],
    ]);
  });

  it('are asked for with the version where the engine is installed after the agent', async () => {
    components.delivered(false);
    install(printing(LISTS));
    await until(
      () => {
        components.delivered(false);
        return components.report() !== undefined;
      },
      { what: 'the report', timeoutMs: 10_000 },
    );
    expect(banners).to.deep.equal(['vector 0.57.0 (x)']);
  });

  it('do not hide that the version is not known: it is asked for again after 5 minutes', async () => {
    install(`test $1 != --version || test -e ${folder}/ready || exit 1\n${printing(LISTS)}`);
    components.delivered(false);
    await reported();
    writeFileSync(join(folder, 'ready'), '');
    expect(banners).to.deep.equal([]);
    clock.advance(5 * 60_000);
    await until(
      () => {
        components.delivered(false);
        return banners.length > 0;
      },
      { what: 'the version', timeoutMs: 10_000 },
    );
    expect(banners).to.deep.equal(['vector 0.57.0 (x)']);
    expect(calls(), 'and nothing else').to.deep.equal(['--version', 'list --format json', '--version']);
  });

  it('have one digest whatever their order', async () => {
    install(printing({ ...LISTS, sources: ['file', 'stdin'] }));
    components.delivered(false);
    const one = await reported();
    install(printing(LISTS));
    components.delivered(false);
    await until(() => calls().length === 4, { what: 'four calls', timeoutMs: 10_000 });
    expect(await reported()).to.equal(one);
  });

  it('are not sent by an engine that lists nothing, and it is not asked again', async () => {
    install('echo "error: unrecognized subcommand" >&2; exit 2');
    components.delivered(false);
    await until(() => calls().length === 2, { what: 'the calls', timeoutMs: 10_000 });
    components.delivered(false);
    components.delivered(false);
    expect(components.report()).to.equal(undefined);
    expect(calls()).to.have.length(2);
  });

  it('are asked for by a process that ends with the agent', async () => {
    install(`echo $$ > ${folder}/pid; exec sleep 1000`);
    components.delivered(false);
    await until(() => existsSync(join(folder, 'pid')) && readFileSync(join(folder, 'pid'), 'utf8') !== '', {
      what: 'the process',
      timeoutMs: 10_000,
    });
    const pid = Number(readFileSync(join(folder, 'pid'), 'utf8'));
    components.stop();
    await until(() => !existsSync(`/proc/${pid}/cmdline`), { what: 'its end', timeoutMs: 5_000 });
    components.delivered(false);
    expect(calls()).to.have.length(1);
  });

  it('are not taken from what is no list, or from one without bounds', () => {
    for (const text of [
      'not json',
      '[]',
      'null',
      '{}',
      '{"sources":"stdin"}',
      '{"sources":["a b"],"sinks":["c"]}',
      '{"sources":[1],"sinks":["c"]}',
      JSON.stringify({ sources: Array.from({ length: 501 }, (_, index) => `s${index}`) }),
      JSON.stringify({ sources: ['s'.repeat(101)] }),
    ])
      expect(parseComponents(text), text.slice(0, 40)).to.equal(undefined);
  });
});
