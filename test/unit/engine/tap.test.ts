/** The parts of `tap`: which outputs are meant, which events are chosen, how the command line is read. */
import { expect } from 'chai';
import fc from 'fast-check';
import { parseCommandLine } from '../../../examples/engine/cli.ts';
import { logBatch } from '../../../examples/engine/event.ts';
import { formatterOf } from '../../../examples/engine/tap/format.ts';
import { matchPoints, queryOf, readQuery } from '../../../examples/engine/tap/request.ts';
import { Reservoir } from '../../../examples/engine/tap/reservoir.ts';
import { Output } from '../../../examples/engine/topology/output.ts';
import { startTopology } from './support.ts';

const tap = (...words: string[]) => parseCommandLine(['tap', ...words], {});

describe('the command line of tap', () => {
  it('reads every option, long and short', () => {
    const command = tap(
      ...['a*,b', 'c', '--outputs-of', 'd', '--inputs-of=out', '-i', '100', '-l', '3', '-f', 'yaml'],
      ...['-u', 'http://127.0.0.1:9/graphql', '-d', '2000', '-q', '-m', '-n'],
    );
    expect(command).to.deep.include({
      kind: 'tap',
      outputsOf: ['a*', 'b', 'c', 'd'],
      inputsOf: ['out'],
      intervalMs: 100,
      limit: 3,
      format: 'yaml',
      durationMs: 2_000,
      quiet: true,
      meta: true,
      reconnect: false,
    });
  });

  it('means all outputs where nothing is named', () => {
    expect(tap()).to.deep.include({
      outputsOf: ['*'],
      inputsOf: [],
      intervalMs: 500,
      limit: 100,
      format: 'json',
    });
    expect(tap('--inputs-of', 'out')).to.deep.include({ outputsOf: [], inputsOf: ['out'] });
  });

  for (const words of [
    ['-i', '99'],
    ['-l', '0'],
    ['-f', 'xml'],
    ['-u', 'ftp://x'],
    ['-d', 'soon'],
    ['-l'],
    ['--colour'],
  ]) {
    it(`refuses ${words.join(' ')}`, () => {
      expect(tap(...words)).to.include({ kind: 'usage-error' });
    });
  }
});

describe('what a tap is to look at', () => {
  const point = (name: string, readers: string[]) => ({
    name,
    readers,
    component: { component_id: name, component_kind: 'source' as const, component_type: 'x' },
    output: new Output(() => {}),
  });
  const points = [point('in', ['split']), point('split.a', ['out', 'out2']), point('split.b', ['out'])];
  const names = (outputsOf: string[], inputsOf: string[] = []) =>
    matchPoints(points, { outputsOf, inputsOf }).points.map(({ name }) => name);

  it('are outputs by name and by glob, each once', () => {
    expect(names(['in', 'i*'])).to.deep.equal(['in']);
    expect(names(['split.*'])).to.deep.equal(['split.a', 'split.b']);
    expect(names(['*'])).to.deep.equal(['in', 'split.a', 'split.b']);
    expect(names(['split'])).to.deep.equal([]);
  });

  it('are what a component reads, where its inputs are meant', () => {
    expect(names([], ['out'])).to.deep.equal(['split.a', 'split.b']);
    expect(names([], ['out2', 'split'])).to.deep.equal(['split.a', 'in']);
  });

  it('says of each pattern whether it met anything', () => {
    expect(matchPoints(points, { outputsOf: ['in', 'x'], inputsOf: [] }).notices).to.deep.equal([
      "[tap] Pattern 'in' successfully matched.",
      "[tap] Pattern 'x' failed to match: will retry on configuration reload.",
    ]);
  });

  it('comes over the API as it was asked for, and within bounds only', () => {
    const wish = { outputsOf: ['a b', 'c&d'], inputsOf: ['ö*'], intervalMs: 100, limit: 7 };
    expect(readQuery(new URLSearchParams(queryOf(wish)))).to.deep.equal(wish);
    const refused = [
      { ...wish, intervalMs: 99 },
      { ...wish, limit: 0 },
      { ...wish, limit: 100_001 },
      { ...wish, outputsOf: [], inputsOf: [] },
      { ...wish, outputsOf: Array.from({ length: 101 }, () => 'a') },
      { ...wish, outputsOf: ['x'.repeat(257)] },
      { ...wish, outputsOf: ['*a'.repeat(9)] },
    ];
    for (const bad of refused) expect(readQuery(new URLSearchParams(queryOf(bad)))).to.be.a('string');
    expect(readQuery(new URLSearchParams(''))).to.be.a('string');
  });
});

describe('the reservoir', () => {
  it('gives at most so many events, in their order, and all where there are few', () => {
    fc.assert(
      fc.property(fc.nat(300), fc.integer({ min: 1, max: 50 }), (offered, limit) => {
        const reservoir = new Reservoir(limit);
        for (let n = 0; n < offered; n += 1) reservoir.offer(() => String(n));
        const taken = reservoir.take().map(Number);
        expect(taken).to.have.length(Math.min(limit, offered));
        expect(taken).to.deep.equal([...new Set(taken)].sort((a, b) => a - b));
        expect(reservoir.take()).to.deep.equal([]);
      }),
    );
  });

  it('gives every event the same chance', () => {
    const counts = Array.from({ length: 20 }, () => 0);
    for (let round = 0; round < 2_000; round += 1) {
      const reservoir = new Reservoir(5);
      for (let n = 0; n < 20; n += 1) reservoir.offer(() => String(n));
      for (const text of reservoir.take()) counts[Number(text)] = (counts[Number(text)] ?? 0) + 1;
    }
    // 500 each; six standard deviations are 116.
    for (const count of counts) expect(count).to.be.within(380, 620);
  });

  it('makes texts of few of many events', () => {
    let made = 0;
    const reservoir = new Reservoir(10);
    for (let n = 0; n < 100_000; n += 1)
      reservoir.offer(() => {
        made += 1;
        return 'x';
      });
    expect(made).to.be.below(400);
  });

  it('holds sixteen million characters and leaves out what has no room', () => {
    const reservoir = new Reservoir(100);
    for (let n = 0; n < 50; n += 1) reservoir.offer(() => 'x'.repeat(1024 * 1024));
    expect(reservoir.take()).to.have.length(16);
  });
});

describe('an output that is listened to', () => {
  it('shows what leaves while it is, and nothing before or after', async () => {
    const output = new Output(() => {});
    const seen: unknown[] = [];
    const send = (n: number) => output.send(logBatch([{ n }]));
    await send(1);
    const stop = output.listen((batch) => seen.push(...batch.events));
    await send(2);
    stop();
    stop();
    await send(3);
    expect(seen).to.deep.equal([{ n: 2 }]);
  });
});

describe('the points of a running topology', () => {
  it('are all outputs with their ports and readers', async () => {
    const { topology } = await startTopology(
      'sources: {in: {type: demo_logs, format: shuffle, lines: [x], count: 1}}',
      `transforms: {split: {type: route, inputs: [in], route: {a: 'true'}}}`,
      'sinks: {out: {type: blackhole, inputs: [split.a, in]}}',
    );
    const points = topology.tapPoints.map(({ name, component, readers }) => [
      name,
      component.component_kind,
      component.component_type,
      readers,
    ]);
    expect(points).to.deep.equal([
      ['in', 'source', 'demo_logs', ['split', 'out']],
      ['split.a', 'transform', 'route', ['out']],
      ['split._unmatched', 'transform', 'route', []],
    ]);
    await topology.finished;
  });
});

describe('the formats of tap', () => {
  const component = { component_id: 'in', component_kind: 'source' as const, component_type: 'demo_logs' };
  const log = { ...component, event: { log: { message: 'a "b"', n: 1, deep: { x: true } } } };
  const metric = { ...component, event: { metric: { name: 'm' } } };

  it('are JSON lines, documents of YAML and logfmt', async () => {
    expect((await formatterOf('json', false))(log)).to.equal(
      '{"log":{"message":"a \\"b\\"","n":1,"deep":{"x":true}}}\n',
    );
    expect((await formatterOf('yaml', false))(metric)).to.equal('---\nmetric:\n  name: m\n');
    expect((await formatterOf('logfmt', false))(log)).to.equal('message="a \\"b\\"" n=1 deep.x=true\n');
  });

  it('name the component where that is asked for', async () => {
    expect((await formatterOf('json', true))(metric)).to.equal(
      '{"component_id":"in","component_kind":"source","component_type":"demo_logs","event":{"metric":{"name":"m"}}}\n',
    );
    expect((await formatterOf('logfmt', true))(log)).to.match(/^component_id=in component_kind=source /);
  });

  it('hold logs alone in logfmt', async () => {
    expect((await formatterOf('logfmt', false))(metric)).to.equal(undefined);
  });
});
