import { expect } from 'chai';
import { createSnapshots, type Joined } from '../../../controller/fleet/status/index.ts';
import type { Bus, Signal } from '../../../controller/platform/runtime/bus.ts';

/** Signals are handed on at once. */
function listeners() {
  const heard = new Map<string, ((signal: never) => void)[]>();
  const bus = {
    on: (type: string, listener: (signal: never) => void) => {
      heard.set(type, [...(heard.get(type) ?? []), listener]);
      return () => {};
    },
  } as unknown as Bus;
  return {
    bus,
    say(signal: Signal) {
      for (const listener of heard.get(signal.type) ?? []) listener(signal as never);
    },
  };
}

describe('what readers of an environment share', () => {
  let now: number;
  let made: string[][];
  let bus: ReturnType<typeof listeners>;
  let snapshots: ReturnType<typeof createSnapshots>;
  let fails: boolean;

  beforeEach(() => {
    now = 1_000_000;
    made = [];
    fails = false;
    bus = listeners();
    const clock = { now: () => now } as Parameters<typeof createSnapshots>[0]['clock'];
    snapshots = createSnapshots({ bus: bus.bus, clock });
  });

  const read = (...environmentIds: string[]) =>
    snapshots.read(environmentIds, async (missing) => {
      made.push([...missing]);
      if (fails) throw new Error('away');
      return new Map(missing.map((id): [string, Joined] => [id, { nodes: [], pipelines: [] }]));
    });

  it('is made once for all who ask at the same time', async () => {
    const answers = await Promise.all([read('a'), read('a'), read('a')]);
    expect(made).to.deep.equal([['a']]);
    expect(new Set(answers.map((answer) => answer.get('a'))).size).to.equal(1);
  });

  it('is made of those alone that nobody has', async () => {
    await read('a');
    const both = await read('a', 'b');
    expect(made).to.deep.equal([['a'], ['b']]);
    expect([...both.keys()]).to.deep.equal(['a', 'b']);
  });

  it('holds for less than a second', async () => {
    await read('a');
    now += 999;
    await read('a');
    expect(made).to.have.length(1);
    now += 1;
    await read('a');
    expect(made).to.have.length(2);
  });

  it('does not hold when the clock was put back', async () => {
    await read('a');
    now -= 1;
    await read('a');
    expect(made).to.have.length(2);
  });

  const of = { a: { environmentId: 'a' }, other: { environmentId: 'b' } };
  const endings: [string, Signal][] = [
    ['a heartbeat was stored', { type: 'ui', topics: ['fleet'], ...of.a }],
    ['a pipeline changed', { type: 'ui', topics: ['pipelines'], ...of.a }],
    [
      'pages of all environments are out of date',
      { type: 'ui', topics: ['environments'], environmentId: null },
    ],
    ['a node changed', { type: 'node', nodeId: 'n', ...of.a }],
    ['what is served changed', { type: 'config', reason: 'deploy', ...of.a }],
    ['the environment was deleted', { type: 'environment', ...of.a }],
    ['signals may have been missed', { type: 'resync' }],
  ];
  for (const [what, signal] of endings) {
    it(`ends when ${what}`, async () => {
      await read('a');
      bus.say(signal);
      await read('a');
      expect(made).to.have.length(2);
    });
  }

  const others: [string, Signal][] = [
    ['lines of logs came', { type: 'ui', topics: ['logs'], ...of.a }],
    ['another environment changed', { type: 'ui', topics: ['fleet'], ...of.other }],
  ];
  for (const [what, signal] of others) {
    it(`stays when ${what}`, async () => {
      await read('a');
      bus.say(signal);
      await read('a');
      expect(made).to.have.length(1);
    });
  }

  it('is made anew for who asks after a change, though another one still reads', async () => {
    const before = read('a');
    snapshots.drop();
    const after = await read('a');
    expect(made).to.have.length(2);
    expect((await before).get('a')).to.not.equal(after.get('a'));
  });

  it('is not kept when it could not be read', async () => {
    fails = true;
    const error = await read('a').then(
      () => null,
      (thrown: Error) => thrown,
    );
    expect(error?.message).to.equal('away');
    fails = false;
    expect((await read('a')).get('a')).to.deep.equal({ nodes: [], pipelines: [] });
  });
});
