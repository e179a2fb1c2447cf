import { expect } from 'chai';
import fc from 'fast-check';
import { compareFigures } from '../../../controller/delivery/rollouts/decision/compare-figures.ts';
import { type Rolling, type Step, step } from '../../../controller/delivery/rollouts/decision/next-step.ts';
import {
  NODES_WATCHED,
  type NodeFacts,
  type Observed,
} from '../../../controller/delivery/rollouts/decision/observe-nodes.ts';
import type { RolloutFigures } from '../../../schemas/api/delivery/rollouts.ts';

const START = Date.UTC(2026, 0, 1);
const MINUTE = 60_000;

const figures = (more: Partial<RolloutFigures> = {}): RolloutFigures => {
  const all = { nodes: 1, eventsIn: 1_000, eventsOut: 1_000, errors: 0, discarded: 0, crashes: 0, ...more };
  const bad = (all.errors + all.discarded) / all.eventsIn;
  return { ...all, errorRate: all.eventsIn > 0 ? Math.min(1, bad) : null };
};
const none = figures({ nodes: 0, eventsIn: 0, eventsOut: 0 });

describe('the verdict on a canary', () => {
  const rows: [
    reason: string,
    canary: Partial<RolloutFigures>,
    verdict: string,
    control?: Partial<RolloutFigures> | undefined,
  ][] = [
    ['both are without errors', {}, 'healthy', {}],
    ['few events came', { eventsIn: 99, errors: 99 }, 'unsure', {}],
    ['none came where the others have many', { eventsIn: 0, eventsOut: 0 }, 'unsure', {}],
    ['errors are many more', { errors: 100 }, 'unhealthy', { errors: 10 }],
    ['many are discarded', { discarded: 100 }, 'unhealthy', {}],
    ['errors are as many as on the others', { errors: 100 }, 'healthy', { errors: 95 }],
    [
      'errors are a little more, of many',
      { eventsIn: 100_000, eventsOut: 100_000, errors: 900 },
      'healthy',
      { eventsIn: 100_000, eventsOut: 100_000, errors: 10 },
    ],
    [
      'two errors among a hundred may be chance',
      { eventsIn: 100, eventsOut: 100, errors: 2 },
      'unsure',
      { eventsIn: 10_000, eventsOut: 10_000, errors: 50 },
    ],
    ['much less goes out for what comes in', { eventsOut: 300 }, 'unhealthy', {}],
    ['a little less goes out', { eventsOut: 800 }, 'healthy', {}],
    ['nothing else runs, and it has few errors', { errors: 20 }, 'healthy'],
    ['nothing else runs, and it has many errors', { errors: 200 }, 'unhealthy'],
    ['nothing else runs, and it filters', { filtered: 900 }, 'healthy'],
  ];
  for (const [reason, canary, verdict, control] of rows)
    it(`is ${verdict} where ${reason}`, () =>
      expect(compareFigures(figures(canary), control ? figures(control) : none)).to.include({ verdict }));

  it('never calls a canary worse than the others that does as they do', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 100, max: 1e6 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (n, part) => {
          const same = figures({ eventsIn: n, eventsOut: n, errors: Math.round(n * part) });
          expect(compareFigures(same, same).verdict).to.equal('healthy');
        },
      ),
    );
  });
});

const seen = (
  nodeId: string,
  stage: NodeFacts['stage'],
  more: Partial<NonNullable<NodeFacts['report']>> = {},
) => ({
  ...{ nodeId, stage, reachable: true },
  report: {
    ...{ version: stage === 'canary' ? 3 : 2, status: 'RUNNING', restarts: 0, statusSince: new Date(START) },
    counters: { eventsIn: 0, eventsOut: 0, errors: 0, discarded: 0, filtered: 0 },
    ...{ pid: null, isStale: false },
    ...more,
  },
});
const counters = (events: number, errors = 0) => ({
  counters: { eventsIn: events, eventsOut: events, errors, discarded: 0, filtered: 0 },
});
const fresh: Rolling = {
  ...{ status: 'CANARY_DEPLOYED', canaryVersion: 3, previousVersion: 2, windowMinutes: 10 },
  ...{ onPass: 'broaden', onFail: 'rollback', healthStartedAt: null, observed: {}, verdict: null },
  heldReason: null,
};

/** As the loop carries steps out; what it answers is what the row holds then. */
function carried(rollout: Rolling, next: Step | null, now: number): Rolling {
  if (!next) return rollout;
  // Through JSON, as it is stored.
  const observed = JSON.parse(JSON.stringify(next.observed)) as Observed;
  const row = { ...rollout, observed, verdict: next.verdict, heldReason: next.heldReason };
  if (next.act === 'begin') return { ...row, status: 'HEALTH_CHECK', healthStartedAt: new Date(now) };
  if (next.act === 'broaden') return { ...row, status: 'BROADENED' };
  if (next.act === 'rollback') return { ...row, status: 'ROLLED_BACK' };
  return row;
}
/** Looks at minute after minute; answers the row and what was done. */
function played(moments: readonly (readonly NodeFacts[])[], rollout: Rolling = fresh) {
  let row = rollout;
  const acts = moments.map((nodes, minute) => {
    const now = START + minute * MINUTE;
    const next = step(row, nodes, now);
    row = carried(row, next, now);
    return next?.act ?? 'ended';
  });
  return { row, acts };
}
const minutes = (count: number, of: (minute: number) => NodeFacts[]) =>
  Array.from({ length: count }, (_, minute) => of(minute));
const sound = (minute: number) => [
  seen('a', 'canary', counters(minute * 100)),
  seen('b', 'control', counters(minute * 100)),
];

describe('what a rollout does next', () => {
  it('waits for the canary node, watches it for the window, and broadens', () => {
    const { row, acts } = played([
      [seen('a', 'canary', { version: 2 }), seen('b', 'control')],
      ...minutes(11, sound),
      [],
    ]);
    expect(acts).to.deep.equal(['wait', 'begin', ...Array(9).fill('wait'), 'broaden', 'ended']);
    expect(row.verdict).to.deep.include({ verdict: 'healthy' });
    expect(row.verdict?.canary).to.include({ nodes: 1, eventsIn: 1_000 });
  });

  it('begins once all that can be reached run it, and one does', () => {
    const away = { ...seen('c', 'canary', { version: 2 }), reachable: false };
    expect(step(fresh, [seen('a', 'canary'), away], START)?.act).to.equal('begin');
    expect(step(fresh, [away], START)?.act).to.equal('wait');
    expect(step(fresh, [], START)?.act).to.equal('wait');
    const starting = seen('c', 'canary', { status: 'STARTING' });
    expect(step(fresh, [seen('a', 'canary'), starting], START)?.act).to.equal('wait');
    const nothing = { ...seen('c', 'canary'), report: null };
    expect(step(fresh, [seen('a', 'canary'), nothing], START)?.act).to.equal('wait');
  });

  it('rolls back at the third crash, before the window as within it', () => {
    const crashing = (from: number) => (minute: number) => [
      seen('a', 'canary', {
        status: minute >= from ? 'CRASHED' : 'RUNNING',
        restarts: Math.max(0, minute - from + 1),
        statusSince: new Date(START + minute * MINUTE),
      }),
    ];
    expect(played(minutes(5, crashing(1))).acts).to.deep.equal([
      'begin',
      'wait',
      'wait',
      'rollback',
      'ended',
    ]);
    const before = played([[seen('a', 'canary', { version: 2 })], ...minutes(5, crashing(1)).slice(1)]);
    expect(before.acts).to.deep.equal(['wait', 'wait', 'wait', 'rollback', 'ended']);
    expect(before.row.verdict?.message).to.equal('Version 3 crashed 3 times on canary nodes');
  });

  it('fails at once where a canary node runs without a part of the new version, and the others do not', () => {
    const deaf = { degraded: 'Source "in": it is deaf' };
    const { acts, row } = played([[seen('a', 'canary', deaf), seen('b', 'control')]]);
    expect(acts).to.deep.equal(['rollback']);
    expect(row.verdict?.message).to.equal('Version 3 is degraded on canary nodes: Source "in": it is deaf');
    const both = played([[seen('a', 'canary', deaf), seen('b', 'control', deaf)]]);
    expect(both.acts).to.deep.equal(['begin']);
  });

  it('adds the crashes of all canary nodes up, and counts none of the others', () => {
    const crashed = (nodeId: string, restarts: number) => seen(nodeId, 'canary', { restarts });
    const calm = ['a', 'b', 'c'].map((id) => crashed(id, 0));
    const { acts } = played([calm, ['a', 'b', 'c'].map((id) => crashed(id, 1))]);
    expect(acts).to.deep.equal(['begin', 'rollback']);
    const others = played([
      [seen('a', 'canary'), seen('b', 'control')],
      [seen('a', 'canary'), seen('b', 'control', { restarts: 9, status: 'CRASHED' })],
    ]);
    expect(others.acts).to.deep.equal(['begin', 'wait']);
  });

  it('does not blame the version for crashes of the one before', () => {
    const { acts } = played([
      [seen('a', 'canary', { version: 2, restarts: 40 })],
      [seen('a', 'canary', { restarts: 40 })],
      [seen('a', 'canary', { restarts: 41 })],
    ]);
    expect(acts).to.deep.equal(['wait', 'begin', 'wait']);
  });

  it('rolls back where an engine does not come up at all', () => {
    const stuck = [seen('a', 'canary', { status: 'CRASHED' })];
    expect(played([stuck, stuck]).acts).to.deep.equal(['wait', 'rollback']);
  });

  it('goes on counting where an engine began at zero again', () => {
    const totals = [50, 90, 30, 130, 5];
    const moments = totals.map((events) => [seen('a', 'canary', counters(events))]);
    const { row } = played(moments);
    expect(row.verdict?.canary.eventsIn).to.equal(40 + 30 + 100 + 5);
  });

  it('holds where it cannot say, and goes on as soon as it can', () => {
    const idle = minutes(12, () => [seen('a', 'canary'), seen('b', 'control', counters(1_000))]);
    const { row, acts } = played(idle);
    expect(acts.at(-1)).to.equal('wait');
    expect(row.heldReason).to.contain('Too few events to say: 0 of at least 100');
    const more = [seen('a', 'canary', counters(500)), seen('b', 'control', counters(2_000))];
    expect(step(row, more, START + 20 * MINUTE)?.act).to.equal('broaden');
    const crashed = [seen('a', 'canary', { restarts: 3 }), seen('b', 'control')];
    expect(step(row, crashed, START + 20 * MINUTE)?.act).to.equal('rollback');
  });

  it('gives nobody a version after which every canary node fell silent, or is down', () => {
    const silent = (minute: number) =>
      sound(Math.min(minute, 5)).map((node) =>
        node.stage === 'canary' && minute > 5 ? { ...node, reachable: false } : node,
      );
    const { row, acts } = played(minutes(15, silent));
    expect(acts).not.to.include('broaden');
    expect(row.heldReason).to.contain('No canary node that answers runs version 3 well at the moment');
    const at = START + 20 * MINUTE;
    const down = seen('a', 'canary', { ...counters(600), status: 'CRASHED', statusSince: new Date(at) });
    expect(step(row, [down, seen('b', 'control')], at)?.act).to.equal('wait');
    expect(step(row, sound(20), at)?.act).to.equal('broaden');
  });

  it('waits for a person where onPass or onFail says so', () => {
    const healthy = played(minutes(12, sound), { ...fresh, onPass: 'hold' });
    expect(healthy.acts.at(-1)).to.equal('wait');
    expect(healthy.row.heldReason).to.contain('onPass: hold');
    const broken = (minute: number) => [
      seen('a', 'canary', counters(minute * 100, minute * 50)),
      seen('b', 'control', counters(minute * 100)),
    ];
    const held = played(minutes(12, broken), { ...fresh, onFail: 'hold' });
    expect(held.row).to.include({ status: 'HEALTH_CHECK' });
    expect(held.row.heldReason).to.contain('onFail: hold');
    expect(played(minutes(12, broken)).acts.at(-2)).to.equal('rollback');
  });

  it('does not forget that it was held for a failure, whatever comes later', () => {
    const crashed = [seen('a', 'canary', { restarts: 3 })];
    const { row } = played([[seen('a', 'canary')], crashed], { ...fresh, onFail: 'hold' });
    const later = step(row, sound(100), START + 100 * MINUTE);
    expect(later).to.include({ act: 'wait', heldReason: row.heldReason });
  });

  it('judges a first version alone', () => {
    const alone = minutes(12, (minute) => [seen('a', 'canary', counters(minute * 100))]);
    expect(played(alone, { ...fresh, previousVersion: null }).acts[10]).to.equal('broaden');
  });

  it('forgets a node that leaves, and takes one that joins from now on', () => {
    const { row } = played([
      [seen('a', 'canary'), seen('b', 'canary')],
      [
        seen('a', 'canary', counters(10)),
        seen('b', 'canary', counters(10)),
        seen('c', 'canary', counters(900)),
      ],
      [seen('a', 'canary', counters(20)), seen('c', 'canary', counters(905))],
      [seen('a', 'control', counters(20)), seen('c', 'canary', counters(910))],
    ]);
    expect(row.verdict?.canary).to.include({ nodes: 1, eventsIn: 10 });
  });

  it('keeps what a silent node has said', () => {
    const { row } = played([
      [seen('a', 'canary')],
      [seen('a', 'canary', counters(10))],
      [{ ...seen('a', 'canary', counters(10)), reachable: false }],
      [seen('a', 'canary', counters(30))],
    ]);
    expect(row.verdict?.canary.eventsIn).to.equal(30);
  });

  it(`watches ${NODES_WATCHED} nodes of each side at most, always the same ones`, () => {
    const nodes = minutes(NODES_WATCHED + 20, (n) => [
      seen(`n${String(n).padStart(4, '0')}`, 'canary'),
    ]).flat();
    const one = Object.keys(step(fresh, nodes, START)?.observed.nodes ?? {});
    const other = Object.keys(step(fresh, nodes.toReversed(), START)?.observed.nodes ?? {});
    expect(one).to.have.length(NODES_WATCHED);
    expect(other).to.deep.equal(one);
  });

  it('adds all counters of a new process, also one that has caught up with the one before', () => {
    const node = (pid: number, eventsIn: number, errors: number) =>
      seen('a', 'canary', { pid, counters: { eventsIn, eventsOut: 0, errors, discarded: 0, filtered: 0 } });
    const { row } = played([[node(1, 100, 5)], [node(1, 100, 5)], [node(2, 40, 5)]]);
    expect(row.verdict?.canary).to.include({ eventsIn: 40, errors: 5 });
  });

  it('takes what filters leave out for neither lost nor missing', () => {
    const node = (id: string, stage: NodeFacts['stage'], minute: number, filtered: number) => {
      const eventsIn = minute * 100;
      const counted = { eventsIn, eventsOut: eventsIn - filtered * minute, errors: 0, discarded: 0 };
      return seen(id, stage, { counters: { ...counted, filtered: filtered * minute } });
    };
    const filtering = (minute: number) => [node('a', 'canary', minute, 90), node('b', 'control', minute, 0)];
    const { acts, row } = played(minutes(12, filtering));
    expect(acts).to.include('broaden');
    expect(row.verdict).to.deep.include({ verdict: 'healthy' });
    expect(row.verdict?.canary).to.include({ errorRate: 0 });
  });

  it('does not broaden a version whose engine cannot be read at the end', () => {
    const unread = (minute: number) =>
      sound(minute).map((node) =>
        node.stage === 'canary' && node.report
          ? { ...node, report: { ...node.report, isStale: true } }
          : node,
      );
    const { acts, row } = played(minutes(12, unread));
    expect(acts).not.to.include('broaden');
    expect(row.heldReason).to.contain('could not be read lately');
  });

  const anySeen: fc.Arbitrary<NodeFacts> = fc.record({
    nodeId: fc.constantFrom('a', 'b', 'c', 'd'),
    stage: fc.constantFrom('canary', 'control'),
    reachable: fc.nat(5).map((n) => n > 0),
    report: fc.option(
      fc.record({
        version: fc.constantFrom(2, 3, 3),
        status: fc.constantFrom('RUNNING', 'RUNNING', 'RUNNING', 'STARTING', 'CRASHED', 'STOPPED'),
        restarts: fc.nat(2),
        statusSince: fc.constant(new Date(START)),
        counters: fc.record({
          eventsIn: fc.nat(500),
          eventsOut: fc.nat(500),
          errors: fc.nat(20),
          discarded: fc.nat(20),
          filtered: fc.nat(20),
        }),
        pid: fc.constantFrom(null, 1, 2),
        isStale: fc.boolean(),
      }),
    ),
  });
  const anyMoments = fc.array(fc.uniqueArray(anySeen, { selector: ({ nodeId }) => nodeId, maxLength: 4 }), {
    maxLength: 30,
  });
  const anyRollout = fc.record({
    onPass: fc.constantFrom('broaden' as const, 'hold' as const),
    onFail: fc.constantFrom('rollback' as const, 'hold' as const),
    windowMinutes: fc.integer({ min: 1, max: 15 }),
  });

  it('ends once at most, never twice and never both ways, and does nothing afterwards', () => {
    fc.assert(
      fc.property(anyMoments, anyRollout, (moments, more) => {
        const { acts } = played(moments, { ...fresh, ...more });
        const end = acts.findIndex((act) => act === 'broaden' || act === 'rollback');
        if (end >= 0) expect(acts.slice(end + 1).every((act) => act === 'ended')).to.equal(true);
        if (more.onPass === 'hold') expect(acts).not.to.include('broaden');
        if (more.onFail === 'hold') expect(acts).not.to.include('rollback');
        expect(acts.filter((act) => act === 'begin').length).to.be.at.most(1);
      }),
      { numRuns: 2_000 },
    );
  });

  it('does not depend on the order in which nodes are looked at', () => {
    fc.assert(
      fc.property(anyMoments, anyRollout, (moments, more) => {
        const rollout = { ...fresh, ...more };
        const other = played(
          moments.map((nodes) => nodes.toReversed()),
          rollout,
        );
        expect(other).to.deep.equal(played(moments, rollout));
      }),
    );
  });

  it('counts the same whether reports of nodes are seen one by one or together', () => {
    const series = fc.array(fc.nat(1_000), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(
        fc.array(series, { minLength: 1, maxLength: 4 }),
        fc.infiniteStream(fc.nat(3)),
        (all, picks) => {
          const at = (places: readonly number[]) =>
            all.map((events, node) => seen(`n${node}`, 'canary', counters(events[places[node] ?? 0] ?? 0)));
          const places = all.map(() => 0);
          const moments = [at(places)];
          // One node after the other moves on, in any order.
          while (all.some((events, node) => (places[node] ?? 0) < events.length - 1)) {
            const node = (picks.next().value ?? 0) % all.length;
            if ((places[node] ?? 0) >= (all[node]?.length ?? 0) - 1) {
              all.forEach((events, other) => {
                if ((places[other] ?? 0) < events.length - 1) places[other] = (places[other] ?? 0) + 1;
              });
            } else places[node] = (places[node] ?? 0) + 1;
            moments.push(at(places));
          }
          const expected = all.reduce(
            (total, events) =>
              total +
              events.slice(1).reduce((sum, now, n) => sum + (now >= events[n]! ? now - events[n]! : now), 0),
            0,
          );
          const { row } = played(moments, { ...fresh, windowMinutes: 1_000 });
          expect(row.verdict?.canary.eventsIn ?? 0).to.equal(expected);
        },
      ),
    );
  });
});
