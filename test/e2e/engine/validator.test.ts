/** How the controller asks an engine what it thinks of a config. */
import { execFileSync } from 'node:child_process';
import { dirname } from 'node:path';
import { expect } from 'chai';
import {
  type ConfigValidator,
  createConfigValidator,
} from '../../../controller/pipelines/engine/validate-config.ts';
import { createLogger } from '../../../controller/platform/runtime/logger.ts';
import { until } from '../../support/harness/until.ts';
import { engineBinary } from './support.ts';

/** One of its own: other suites have engines of theirs check configs meanwhile. */
let engineBin: string;
const config = (program: string) => `sources:
  ticks: { type: demo_logs, format: json, interval: 1 }
transforms:
  mark: { type: remap, inputs: [ticks], source: '${program}' }
sinks:
  out: { type: http, inputs: [mark], uri: "https://example.com", encoding: { codec: json }, auth: { strategy: bearer, token: "$\{SVC_SECRET_API}" } }
`;
const GOOD = { status: 'checked', errors: [], unknown: [] };

/** Pids of engines that wait for a config of this process, or check one. */
function asking(): number[] {
  const table = execFileSync('ps', ['-eo', 'pid=,args=']).toString('utf8').split('\n');
  return table.flatMap((line) => {
    const [, pid = '', args = ''] = /^\s*(\d+) (.*)$/.exec(line) ?? [];
    return args.startsWith(`${dirname(engineBin)}/`) && args.includes(' validate') ? [Number(pid)] : [];
  });
}

/** One that reads, and one that builds. */
const PREPARED = 2;

describe('the check of a config by an engine', function () {
  this.timeout(20_000);
  let validator: ConfigValidator;
  before(async function () {
    this.timeout(60_000);
    engineBin = await engineBinary();
  });
  beforeEach(() => {
    validator = createConfigValidator({ engineBin, log: createLogger('silent') });
  });
  afterEach(async () => {
    validator.stop();
    await untilAsking(0);
  });
  const untilAsking = (count: number) =>
    until(() => asking().length === count, { what: `${count} engines`, timeoutMs: 10_000 });

  it('passes a good one, without the values of its secrets', async () => {
    expect(await validator.validate(config('.a = 1'))).to.deep.include(GOOD);
  });

  it('says which component a fault is in', async () => {
    const { errors } = (await validator.validate(config('.a = nothing('))) as { errors: unknown[] };
    expect(errors).to.have.length(1);
    expect(errors[0]).to.include({ componentKey: 'mark' });
  });

  it('uses the engines that were prepared, once, and prepares the next ones', async () => {
    validator.prepare();
    validator.prepare();
    await untilAsking(PREPARED);
    const first = asking();
    expect(await validator.validate(config('.a = 2'))).to.deep.include(GOOD);
    await until(() => asking().length === PREPARED && !asking().some((pid) => first.includes(pid)), {
      what: 'the next ones',
      timeoutMs: 10_000,
    });
    expect(await validator.validate(config('.a = 3'))).to.deep.include(GOOD);
  });

  it('starts another where the prepared one has died', async () => {
    validator.prepare();
    await untilAsking(PREPARED);
    for (const pid of asking()) process.kill(pid, 'SIGKILL');
    await untilAsking(0);
    expect(await validator.validate(config('.a = 4'))).to.deep.include(GOOD);
  });

  it('leaves none behind when it is stopped', async () => {
    validator.prepare();
    await untilAsking(PREPARED);
    validator.stop();
    await untilAsking(0);
  });

  it('ends with the signal of whoever asked', async () => {
    const stop = new AbortController();
    stop.abort(new Error('not needed'));
    expect(await validator.validate(config('.a = 5'), stop.signal)).to.include({ status: 'unavailable' });
    await untilAsking(0);
  });

  it('runs in four engines at a time, however many ask', async () => {
    let most = 0;
    const asked = Array.from({ length: 16 }, (_, i) => validator.validate(config(`.a = 1${i}`)));
    const all = Promise.all(asked);
    let done = false;
    void all.finally(() => (done = true));
    await until(
      () => {
        most = Math.max(most, asking().length);
        return done;
      },
      { what: 'all answers', timeoutMs: 15_000 },
    );
    for (const answer of await all) expect(answer).to.deep.include(GOOD);
    // Those that are prepared for the next come on top.
    expect(most).to.be.within(1, 4 + PREPARED);
  });

  it('says so where there is no engine to ask', async () => {
    const none = createConfigValidator({ engineBin: '/nowhere/engine', log: createLogger('silent') });
    expect(await none.validate(config('.a = 6'))).to.include({ status: 'unavailable' });
  });
});
