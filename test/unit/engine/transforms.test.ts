import { expect } from 'chai';
import { metricBatch } from '../../../examples/engine/event.ts';
import { startTransform } from './support.ts';

describe('transforms', function () {
  this.timeout(10_000);

  it('remap makes several events of an array', async () => {
    const { run } = await startTransform(`type: remap, source: '. = [{"n": 1}, {"n": 2}]'`);
    expect(run({ a: 1 })).to.deep.equal({ _default: [{ n: 1 }, { n: 2 }] });
  });

  it('remap passes an event that failed on as it was, and counts the error', async () => {
    const { run, value, lines } = await startTransform(`type: remap, source: '. = parse_json!(.message)'`);
    expect(run({ message: 'no' }, { message: '{"a":1}' })).to.deep.equal({
      _default: [{ message: 'no' }, { a: 1 }],
    });
    expect(
      value('component_errors_total', { error_type: 'conversion_failed', stage: 'processing' }),
    ).to.equal(1);
    expect(value('component_discarded_events_total', {})).to.equal(undefined);
    expect(lines[0]).to.match(
      /ERROR transform\{component_kind="transform" component_id=t component_type=remap\}: .*Mapping failed/,
    );
  });

  it('remap drops aborted events as intended and failed ones as not', async () => {
    const { run, value } = await startTransform(
      `type: remap, drop_on_error: true, source: 'if .a == 1 { abort }; . = parse_json!(.message)'`,
    );
    expect(run({ a: 1 }, { message: 'no' })).to.deep.equal({});
    expect(value('component_discarded_events_total', { intentional: 'true' })).to.equal(1);
    expect(value('component_discarded_events_total', { intentional: 'false' })).to.equal(1);
  });

  it('remap reroutes what it drops, with the reason', async () => {
    const { run } = await startTransform(
      `type: remap, reroute_dropped: true, drop_on_error: true, source: 'abort "why"'`,
    );
    expect(run({ a: 1 })).to.deep.equal({
      dropped: [
        {
          a: 1,
          metadata: {
            dropped: {
              component_id: 't',
              component_kind: 'transform',
              component_type: 'remap',
              message: 'why',
              reason: 'abort',
            },
          },
        },
      ],
    });
  });

  it('filter keeps what its condition is true for', async () => {
    const { run, value } = await startTransform(
      `type: filter, condition: {type: vrl, source: '.level == "error"'}`,
    );
    expect(run({ level: 'error' }, { level: 'info' }, {})).to.deep.equal({ _default: [{ level: 'error' }] });
    expect(value('component_discarded_events_total', { intentional: 'true' })).to.equal(2);
  });

  it('a condition that fails is false, and counts as an error', async () => {
    const { run, value } = await startTransform(`type: filter, condition: 'exists(parse_json!(.message).a)'`);
    expect(run({ message: '{"a":1}' }, { message: 'no' })).to.deep.equal({
      _default: [{ message: '{"a":1}' }],
    });
    expect(value('component_errors_total', { error_type: 'script_failed' })).to.equal(1);
  });

  it('route sends an event to every matching port and the rest to _unmatched', async () => {
    const { run } = await startTransform(`type: route, route: {a: '.n == 1', b: '.n == 1 || .n == 2'}`);
    expect(run({ n: 1 }, { n: 2 }, { n: 3 })).to.deep.equal({
      a: [{ n: 1 }],
      b: [{ n: 1 }, { n: 2 }],
      _unmatched: [{ n: 3 }],
    });
  });

  it('remap can rename a metric and change its labels', async () => {
    const { process } = await startTransform(`type: remap, source: '.name = "n"; .tags.team = "a"'`);
    const metric = {
      name: 'm',
      namespace: 'x',
      tags: { host: 'h' },
      timestamp: 5,
      kind: 'absolute',
      type: 'gauge',
      value: 7,
    } as const;
    expect(process(metricBatch([{ ...metric }])).get('_default')?.events).to.deep.equal([
      { ...metric, name: 'n', tags: { host: 'h', team: 'a' } },
    ]);
  });

  it('a compile error carries the name of its transform', async () => {
    const failure = await startTransform(`type: remap, source: '.a = nosuch(.b)'`).catch(
      (error: Error) => error.message,
    );
    expect(failure).to.match(/^Transform "t": \nerror\[E105\]: call to undefined function\n {2}┌─ :1:6/);
  });
});
