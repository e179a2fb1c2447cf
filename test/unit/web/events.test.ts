/** Pure parts of the tab that shows events, and the life of a live tap. */
import { expect } from 'chai';
import type { GraphNode } from '../../../schemas/api/pipelines/graph.ts';
import { LiveTap, type TapStream } from '../../../web/src/features/pipeline/events/live-tap.ts';
import { figuresText } from '../../../web/src/features/pipeline/events/live-text.ts';
import {
  cleared,
  EMPTY_TAP,
  MAX_EVENTS,
  rateOf,
  released,
  withEvents,
} from '../../../web/src/features/pipeline/events/tap-buffer.ts';
import { firstOf, neighboursOf, tapTargets } from '../../../web/src/features/pipeline/events/tap-targets.ts';
import { pathBefore, pathsOfEvent, vrlPath } from '../../../web/src/ui/code/vrl-paths.ts';
import { cpuMs, patient } from '../../support/harness/patience.ts';

const component = (
  componentKey: string,
  kind: GraphNode['kind'],
  componentType: string,
  more: Partial<GraphNode> = {},
): GraphNode => ({
  id: `id-${componentKey}`,
  ...{ componentKey, kind, componentType, config: {}, positionX: 0, positionY: 0, disabled: false },
  ...more,
});
const NODES = [
  component('out', 'SINK', 'blackhole'),
  component('split', 'TRANSFORM', 'route', { config: { route: { big: '.n > 5' } } }),
  component('lines', 'SOURCE', 'demo_logs'),
  component('off', 'SOURCE', 'demo_logs', { disabled: true }),
  component('odd', 'TRANSFORM', 'of_another_engine'),
];
const EDGES = [
  { sourceNodeId: 'id-lines', targetNodeId: 'split' },
  { sourceNodeId: 'split', targetNodeId: 'id-out', sourcePort: 'big' },
  { sourceNodeId: 'id-split', targetNodeId: 'odd', sourcePort: '_unmatched' },
  { sourceNodeId: 'odd', targetNodeId: 'out', sourcePort: 'side' },
  { sourceNodeId: 'odd', targetNodeId: 'out', sourcePort: 'side' },
];

describe('what can be looked at of a pipeline', () => {
  const targets = tapTargets(NODES, EDGES);
  const keys = (found: readonly { key: string }[]) => found.map(({ key }) => key);

  it('is each output in the order of the flow, without what is switched off', () => {
    expect(keys(targets)).to.deep.equal(['lines', 'split.big', 'split._unmatched', 'odd', 'odd.side', 'out']);
  });

  it('begins with the output that is named, else with one of the component, else with the first', () => {
    expect(firstOf(targets, 'odd.side')?.key).to.equal('odd.side');
    expect(firstOf(targets, 'split')?.key).to.equal('split.big');
    expect(firstOf(targets, 'gone')?.key).to.equal('lines');
    expect(firstOf([], 'gone')).to.equal(undefined);
  });

  it('knows what comes before and after an output', () => {
    const near = (key: string) => {
      const target = firstOf(targets, key);
      if (!target) throw new Error(`no target ${key}`);
      const { before, after } = neighboursOf(target, targets, { nodes: NODES, edges: EDGES });
      return [keys(before), keys(after)];
    };
    expect(near('split.big')).to.deep.equal([['lines'], ['out']]);
    expect(near('out')).to.deep.equal([['split.big', 'odd.side'], []]);
    expect(near('odd')).to.deep.equal([['split._unmatched'], []]);
  });
});

describe('the events that a page holds', () => {
  const came = (...events: unknown[]) => ({ events, dropped: 0 });
  const texts = ({ events }: { events: readonly { text: string }[] }) => events.map(({ text }) => text);

  it('are the newest, each with a number of its own', () => {
    const many = Array.from({ length: MAX_EVENTS + 10 }, (_, n) => ({ n }));
    const buffer = withEvents(EMPTY_TAP, came(...many), { at: 0, holding: false });
    expect(buffer.events).to.have.length(MAX_EVENTS);
    expect(buffer.events.at(-1)).to.include({ id: MAX_EVENTS + 9, text: `{"n":${MAX_EVENTS + 9}}` });
    expect(buffer.seen).to.equal(MAX_EVENTS + 10);
  });

  it('stand still while they are held, and go on with what has waited', () => {
    const first = withEvents(EMPTY_TAP, came(1), { at: 0, holding: false });
    const held = withEvents(first, came(2, 3), { at: 1, holding: true });
    expect(texts(held)).to.deep.equal(['1']);
    expect(held.unseen).to.equal(2);
    const after = released(held);
    expect(texts(after)).to.deep.equal(['1', '2', '3']);
    expect([after.unseen, after.waiting]).to.deep.equal([0, []]);
    expect(released(after)).to.equal(after);
    expect(texts(cleared(after))).to.deep.equal([]);
    expect(cleared(after).seen).to.equal(3);
  });

  it('have a rate, with what was left out', () => {
    const one = withEvents(EMPTY_TAP, { events: [1, 2], dropped: 8 }, { at: 10_000, holding: false });
    expect(rateOf(one, 10_000, 5_000)).to.equal(2);
    expect(rateOf(one, 10_000, 9_900), 'a second at least').to.equal(10);
    expect(rateOf(one, 16_000, 5_000)).to.equal(0);
  });
});

describe('the figures of a live tap', () => {
  const buffer = (events: number, dropped = 0) =>
    withEvents(EMPTY_TAP, { events: Array(events).fill({}), dropped }, { at: 10_000, holding: false });
  for (const { reason, of, rate, says } of [
    { reason: 'nothing yet', of: EMPTY_TAP, rate: 10_000, says: '0/s · 0 seen' },
    { reason: 'what was left out', of: buffer(3, 7), rate: 10_000, says: '2/s · 3 seen · 7 left out' },
    { reason: 'no rate once it is over', of: buffer(3), rate: null, says: '3 seen' },
    {
      reason: 'where it is full',
      of: buffer(1_500),
      rate: null,
      says: '1,500 seen · the newest 500 are kept',
    },
  ])
    it(`say ${reason}`, () =>
      expect(figuresText(of, rate === null ? null : { now: rate, startedAt: 5_000 })).to.equal(says));
});

describe('a live tap', () => {
  class Stream extends EventTarget implements TapStream {
    readyState = 1;
    closed = false;
    close(): void {
      this.closed = true;
    }
    say(type: string, data: unknown): void {
      this.dispatchEvent(new MessageEvent(type, { data: JSON.stringify(data) }));
    }
  }
  const TAP = { tapId: 'tap-1', nodeName: 'edge', endsAt: new Date(0) };
  function made(start = async () => TAP) {
    const streams: Stream[] = [];
    const stopped: string[] = [];
    const tap = new LiveTap({
      start,
      stop: (tapId) => stopped.push(tapId),
      open: () => {
        const stream = new Stream();
        streams.push(stream);
        return stream;
      },
    });
    const stream = (): Stream => {
      const last = streams.at(-1);
      if (!last) throw new Error('no stream was opened');
      return last;
    };
    return { tap, stream, stopped };
  }

  it('ends for the reason that it is told, and stops nothing that has ended', async () => {
    const { tap, stream, stopped } = made();
    await tap.start();
    stream().say('events', { events: [{ n: 1 }], dropped: 2 });
    expect(tap.getState()).to.include({ seen: 1, dropped: 2 });
    stream().say('ended', { reason: 'The node has gone' });
    expect(tap.getState().phase).to.deep.equal({ kind: 'ended', reason: 'The node has gone' });
    tap.leave();
    expect([stream().closed, stopped]).to.deep.equal([true, []]);
  });

  it('is stopped when it is left, also where the answer comes afterwards', async () => {
    const { tap, stream, stopped } = made();
    await tap.start();
    tap.leave();
    expect([stream().closed, stopped]).to.deep.equal([true, ['tap-1']]);
    const starting = tap.start();
    tap.leave();
    await starting;
    expect(stopped).to.deep.equal(['tap-1', 'tap-1']);
  });

  it('outlives a lost connection, and ends where the browser gives up', async () => {
    const { tap, stream, stopped } = made();
    await tap.start();
    expect(tap.getState().phase.kind, 'its stream is not there yet').to.equal('starting');
    stream().dispatchEvent(new Event('open'));
    expect(tap.getState().phase.kind).to.equal('open');
    stream().dispatchEvent(new Event('error'));
    expect(tap.getState().phase.kind).to.equal('lost');
    stream().dispatchEvent(new Event('open'));
    expect(tap.getState().phase.kind).to.equal('open');
    stream().readyState = 2;
    stream().dispatchEvent(new Event('error'));
    expect(tap.getState().phase.kind).to.equal('ended');
    expect(stopped, 'the controller is told').to.deep.equal(['tap-1']);
  });

  it('holds the list while it is paused or read, and takes no message without form', async () => {
    const { tap, stream } = made();
    await tap.start();
    tap.follow(false);
    tap.pause(true);
    stream().say('events', { events: [1], dropped: 0 });
    tap.pause(false);
    expect(tap.getState()).to.include({ unseen: 1 });
    tap.follow(true);
    expect(tap.getState().events).to.have.length(1);
    stream().say('events', { events: 'none' });
    stream().dispatchEvent(new MessageEvent('events', { data: '{' }));
    expect(tap.getState().events).to.have.length(1);
  });

  it('tells of a start that was refused', async () => {
    const refusal = new Error('no node');
    const { tap } = made(async () => {
      throw refusal;
    });
    await tap.start();
    expect(tap.getState().phase).to.deep.equal({ kind: 'failed', error: refusal });
    tap.stop('nothing to stop');
    expect(tap.getState().phase.kind).to.equal('failed');
  });
});

describe('paths that are offered in programs', () => {
  it('are those of the event, outer ones first, quoted where a key is no plain word', () => {
    const event = { user: { name: 'ada' }, 'app.io/name': 1, tags: [{ key: 'a' }], none: null };
    expect(pathsOfEvent(event)).to.deep.equal([
      { path: '.user', about: 'object' },
      { path: '."app.io/name"', about: 'number' },
      { path: '.tags', about: 'array' },
      { path: '.none', about: 'null' },
      { path: '.user.name', about: 'string' },
      { path: '.tags[0]', about: 'object' },
      { path: '.tags[0].key', about: 'string' },
    ]);
    expect(pathsOfEvent('text')).to.deep.equal([]);
    expect(vrlPath('.tags[].key')).to.equal('.tags[0].key');
  });

  it('are bounded for an event of any size', () => {
    const wide = Object.fromEntries(Array.from({ length: 2_000 }, (_, n) => [`k${n}`, { a: 1 }]));
    let deep: unknown = 1;
    for (let depth = 0; depth < 1_000; depth += 1) deep = { deep };
    expect(pathsOfEvent(wide)).to.have.length(500);
    expect(pathsOfEvent(deep).length).to.be.at.most(12);
  });

  for (const [text, start] of [
    ['.x = .us', 5],
    ['.x = .user.', 5],
    ['del(.a[0].b', 4],
    ['.x = ."app.io/na', 5],
    ['.', 0],
    ['round(1.', null],
    ['foo.bar', null],
    ['"text".', null],
    ['.x = downcase(.a) + "b', null],
  ] as const) {
    it(`begin at ${start} in ${text}`, () => expect(pathBefore(text)).to.equal(start));
  }

  it('are looked for in linear time', () => {
    const startedAt = cpuMs();
    pathBefore(`${'.a'.repeat(150)}!`);
    pathBefore(`.${'a'.repeat(290)} `);
    pathBefore('.""'.repeat(100));
    expect(cpuMs() - startedAt).to.be.lessThan(patient(1_000));
  });
});
