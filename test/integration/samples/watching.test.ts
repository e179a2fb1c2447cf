/** Who watches a live tap at a controller, over time. */
import { expect } from 'chai';
import { createTaps, findTap, type TapRecord, type Taps } from '../../../controller/fleet/samples/index.ts';
import { type ManualClock, manualClock } from '../../../reconcilers/loops/clock.ts';
import type { TapEvents } from '../../../schemas/api/fleet/samples.ts';
import { useController } from '../../support/harness/controller.ts';
import { QUIET } from '../../support/harness/platform.ts';
import { until } from '../../support/harness/until.ts';
import { report, useSampled } from '../../support/scenes/sampled.ts';

function viewer() {
  const sent: { event: string; data: TapEvents & { reason?: string } }[] = [];
  const comments: string[] = [];
  const state = { backlog: 0, closed: 0 };
  return {
    sent,
    comments,
    state,
    send: (event: string, data: string) => void sent.push({ event, data: JSON.parse(data) }),
    comment: (text: string) => void comments.push(text),
    backlog: () => state.backlog,
    close() {
      state.closed += 1;
    },
  };
}

describe('who watches a live tap', () => {
  const test = useController();
  const at = useSampled(test);
  let clock: ManualClock;
  let taps: Taps;

  beforeEach(async () => {
    await test.db('taps').delete();
    await report(test, at.node, at.pipelineId);
    const { bus } = test.controller.systemContext('test').services;
    clock = manualClock(Date.now());
    taps = createTaps({ db: test.db, bus, clock, log: QUIET });
  });
  afterEach(() => taps.stop());

  async function started(): Promise<TapRecord> {
    const { tapId } = await at.editor.mutate<{ tapId: string }>('pipeline.startTap', {
      ...{ pipelineId: at.pipelineId, componentKey: 'lines' },
    });
    const tap = await findTap(test.db, tapId);
    if (!tap) throw new Error('the tap is gone');
    return tap;
  }
  const watchedAt = async (tapId: string): Promise<number> =>
    (await test.db('taps').where({ id: tapId }).first()).watched_at.getTime();
  const bring = async (tap: TapRecord, events: unknown[]) => {
    const { environmentId, nodeId, pipelineId, componentKey } = tap;
    const identity = { nodeId, environmentId } as Parameters<Taps['ingest']>[0];
    return taps.ingest(identity, { requestId: tap.tapId, pipelineId, componentId: componentKey, events });
  };

  it('is kept in touch with every 15 seconds, until the five minutes are over', async () => {
    const tap = await started();
    expect(await taps.claim(tap)).to.equal(true);
    const one = viewer();
    taps.attach(tap, one);
    const before = await watchedAt(tap.tapId);
    clock.advance(15_000);
    expect(one.comments).to.deep.equal(['keep-alive']);
    await until(async () => (await watchedAt(tap.tapId)) > before, { what: 'it to be noted' });
    clock.advance(290_000);
    await until(() => one.state.closed > 0, { what: 'the end' });
    expect(one.comments.length).to.be.within(19, 21);
    expect(one.sent.at(-1)).to.deep.equal({
      ...{ event: 'ended', data: { reason: 'Its five minutes are over; start it again to see more' } },
    });
    expect(await findTap(test.db, tap.tapId)).to.equal(null);
    expect(await taps.claim(tap)).to.equal(false);
  });

  it('misses events while he is slow, and is told how many', async () => {
    const tap = await started();
    await taps.claim(tap);
    const slow = viewer();
    taps.attach(tap, slow);
    slow.state.backlog = 10_000_000;
    expect(await bring(tap, [1, 2, 3])).to.equal(true);
    slow.state.backlog = 0;
    await bring(tap, [4]);
    expect(slow.sent).to.deep.equal([{ event: 'events', data: { events: [4], dropped: 3 } }]);
  });

  it('gets no more than 200 events in a second, and those of the next', async () => {
    const tap = await started();
    await taps.claim(tap);
    const one = viewer();
    taps.attach(tap, one);
    for (let n = 0; n < 3; n += 1) await bring(tap, Array(100).fill(n));
    clock.advance(1_000);
    await bring(tap, Array(100).fill(3));
    expect(one.sent.map(({ data }) => [data.events.length, data.dropped])).to.deep.equal([
      ...[
        [100, 0],
        [100, 0],
        [0, 100],
        [100, 0],
      ],
    ]);
  });

  it('gets no more than half a million characters at a time', async () => {
    const tap = await started();
    await taps.claim(tap);
    const one = viewer();
    taps.attach(tap, one);
    await bring(tap, Array(100).fill({ a: 'x'.repeat(10_000) }));
    const [{ data } = { data: { events: [], dropped: 0 } }] = one.sent;
    expect(JSON.stringify(data.events).length).to.be.below(530_000);
    expect(data.events.length + data.dropped).to.equal(100);
  });

  it('leaves when his stream ends, and at the end of the controller', async () => {
    const tap = await started();
    await taps.claim(tap);
    const detach = taps.attach(tap, viewer());
    detach();
    await taps.stop();
    expect((await findTap(test.db, tap.tapId))?.watchedBy).to.equal(null);
  });

  it('has left also where it was being looked at whether he is there', async () => {
    for (let round = 0; round < 8; round += 1) {
      const tap = await started();
      await taps.claim(tap);
      const detach = taps.attach(tap, viewer());
      clock.advance(15_000);
      detach();
      await taps.claim(tap);
      taps.attach(tap, viewer())();
      await until(async () => (await findTap(test.db, tap.tapId))?.watchedBy === null, {
        what: 'him to leave',
      });
      await test.db('taps').delete();
    }
  });

  it('stays when his stream before this one ends only after he has come back', async () => {
    const tap = await started();
    await taps.claim(tap);
    const detach = taps.attach(tap, viewer());
    await taps.claim(tap);
    detach();
    await until(async () => (await findTap(test.db, tap.tapId))?.watchedBy === null, {
      what: 'him to leave',
    });
    const second = viewer();
    taps.attach(tap, second);
    clock.advance(15_000);
    await until(async () => (await findTap(test.db, tap.tapId))?.watchedBy !== null, {
      what: 'him to be noted again',
    });
    expect(second.state.closed).to.equal(0);
    await bring(tap, [1]);
    expect(second.sent).to.deep.equal([{ event: 'events', data: { events: [1], dropped: 0 } }]);
  });

  it('is not waited for: fifty deliveries wait in the database at most, and the rest is counted', async () => {
    const tap = await started();
    await test.db('taps').where({ id: tap.tapId }).update({ watched_by: 'a controller that hangs' });
    for (let n = 0; n < 60; n += 1) {
      clock.advance(1_000);
      expect(await bring(tap, [n])).to.equal(true);
    }
    expect(await test.db('tap_batches').where({ tap_id: tap.tapId })).to.have.length(50);
  });
});
