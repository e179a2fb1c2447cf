import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { startTopology } from './support.ts';

async function runToEnd(...files: string[]) {
  const { topology, sum, lines } = await startTopology(...files);
  await topology.finished;
  return { sum, lines };
}

describe('a running topology', function () {
  this.timeout(10_000);
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'engine-topology-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const SOURCE =
    'sources: {in: {type: demo_logs, format: shuffle, lines: [x], sequence: true, interval: 0, count: 1000}}';

  it('loses nothing on the way through routes into several sinks, and counts every step', async () => {
    const { sum } = await runToEnd(
      SOURCE,
      `transforms: {split: {type: route, inputs: [in], route: {small: 'length(string!(.message)) < 4'}}}`,
      `sinks:
  small: {type: file, inputs: [split.small], path: "${folder}/small", encoding: {codec: text}, buffer: {max_events: 1}}
  rest: {type: file, inputs: [split._unmatched], path: "${folder}/rest", encoding: {codec: json}}
  all: {type: blackhole, inputs: [in]}`,
    );
    // "0 x" to "9 x" have three characters.
    expect(readFileSync(join(folder, 'small'), 'utf8').trim().split('\n')).to.have.length(10);
    expect(readFileSync(join(folder, 'rest'), 'utf8').trim().split('\n')).to.have.length(990);
    expect(sum('component_sent_events_total', { component_id: 'in', output: '_default' })).to.equal(1000);
    expect(sum('component_received_events_total', { component_id: 'split' })).to.equal(1000);
    expect(sum('component_sent_events_total', { component_id: 'split', output: 'small' })).to.equal(10);
    expect(sum('component_sent_events_total', { component_id: 'all' })).to.equal(1000);
    expect(sum('component_sent_bytes_total', { component_id: 'small', protocol: 'file' })).to.equal(40);
    expect(sum('component_received_bytes_total', { component_id: 'in', protocol: 'none' })).to.be.greaterThan(
      0,
    );
  });

  it('does not count as sent what a sink could not write', async () => {
    const { sum, lines } = await runToEnd(
      SOURCE,
      `sinks: {out: {type: file, inputs: [in], path: "${folder}/{{ nosuch }}", encoding: {codec: text}}}`,
    );
    expect(sum('component_sent_events_total', { component_id: 'out' })).to.equal(0);
    expect(sum('component_discarded_events_total', { component_id: 'out', intentional: 'false' })).to.equal(
      1000,
    );
    expect(lines.some((line) => line.includes('Failed to render template'))).to.equal(true);
  });

  it('counts what a transform makes of each event', async () => {
    const { sum } = await runToEnd(
      SOURCE,
      `transforms: {double: {type: remap, inputs: [in], source: '. = [., .]'}}`,
      'sinks: {out: {type: blackhole, inputs: [double]}}',
    );
    expect(sum('component_received_events_total', { component_id: 'double' })).to.equal(1000);
    expect(sum('component_received_events_total', { component_id: 'out' })).to.equal(2000);
  });
});
