/**
 * Whatever alerts do and however tries fail, each endpoint receives each event at least once, and never the end of an event
 * before its beginning.
 */
import { expect } from 'chai';
import fc from 'fast-check';
import type { AlertNotice } from '../../../controller/insight/notifications/index.ts';
import { HOUR, idsOf, MINUTE, SECOND, useNotificationScene } from '../../support/scenes/notifications.ts';
import type { StandardBody, WebhookReceiver } from '../../support/servers/webhook-receiver.ts';

type Step =
  /** Of an event of its number: it fires, or is resolved where it fires. */
  { does: 'change'; events: number[] } | { does: 'wait'; seconds: number } | { does: 'restart' };

const EVENTS = 12;
const RULES = 3;

const steps = fc.array(
  fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({
        does: fc.constant('change' as const),
        events: fc.uniqueArray(fc.nat(EVENTS - 1), { minLength: 1, maxLength: 6 }),
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        does: fc.constant('wait' as const),
        seconds: fc.oneof(fc.nat(20), fc.nat(400)),
      }),
    },
    { weight: 1, arbitrary: fc.constant({ does: 'restart' as const }) },
  ),
  { minLength: 5, maxLength: 30 },
) as fc.Arbitrary<Step[]>;

/** Of each try by itself; a message has six, of which at most five fail. */
const failures = fc.array(fc.constantFrom('ok', 'ok', 500, 'cut', 429), { minLength: 60, maxLength: 60 });

const RUNS = Number(process.env.HEADGATE_TEST_RUNS ?? 8);
const IS_RANDOM = process.env.HEADGATE_TEST_SEED === 'random';

/** What a receiver took, event by event. */
function statesOf(receiver: WebhookReceiver): Map<string, string[]> {
  const states = new Map<string, string[]>();
  const seen = new Set<string>();
  for (const { body, status, headers } of receiver.messages) {
    const id = String(headers['webhook-id']);
    // A message that is taken twice has the same id, by which receivers know it.
    if (status !== 200 || seen.has(id)) continue;
    seen.add(id);
    const { data } = JSON.parse(body) as StandardBody;
    for (const { eventId, status: state } of data.events ?? [data])
      states.set(eventId, [...(states.get(eventId) ?? []), state]);
  }
  return states;
}

describe('the order of notifications', () => {
  const scene = useNotificationScene();

  it('is that of the states of each event, with random alerts, failures and restarts', async () => {
    await fc.assert(
      fc.asyncProperty(steps, failures, failures, async (walk, ...given) => {
        const faults = given.map((one) => [...one]);
        const receivers = [await scene.receiver(), await scene.receiver()];
        for (const [index, receiver] of receivers.entries()) {
          const tries = new Map<string, number>();
          receiver.react = ({ headers }) => {
            const id = String(headers['webhook-id']);
            const count = (tries.get(id) ?? 0) + 1;
            tries.set(id, count);
            const fault = faults[index]?.shift() ?? 'ok';
            if (fault === 'ok' || count > 5) return { status: 200 };
            return fault === 'cut' ? 'cut' : { status: Number(fault) };
          };
          await scene.teamEndpoint(receiver.url);
        }
        const expected = await walkThrough(walk);
        for (const [index, receiver] of receivers.entries())
          expect(Object.fromEntries(statesOf(receiver)), `receiver ${index}`).to.deep.equal(expected);
        await scene.reset();
      }),
      { numRuns: RUNS, ...(IS_RANDOM ? {} : { seed: 20_261_128, endOnFailure: true }) },
    );
  }).timeout(300_000);

  /** Answers the states of each event that there was. */
  async function walkThrough(walk: readonly Step[]): Promise<Record<string, string[]>> {
    const open = new Map<number, AlertNotice>();
    const expected: Record<string, string[]> = {};
    let made = 0;
    let loop = await scene.loop();
    for (const step of walk) {
      if (step.does === 'wait') await scene.advance(loop, step.seconds * SECOND, 5 * SECOND);
      else if (step.does === 'restart') {
        await loop.stop();
        loop = await scene.loop();
      } else {
        const notices = step.events.map((number) => {
          const firing = open.get(number);
          const notice = firing
            ? scene.resolved(firing)
            : scene.notice({ eventId: `event-${++made}`, ruleId: `rule-${number % RULES}` });
          if (firing) open.delete(number);
          else open.set(number, notice);
          expected[notice.eventId] = [...(expected[notice.eventId] ?? []), notice.status];
          return notice;
        });
        await scene.enqueue(...notices);
      }
    }
    for (let round = 0; round < 40 && (await unfinished()) > 0; round += 1) await scene.advance(loop, HOUR);
    expect(await unfinished(), 'what is never sent').to.equal(0);
    return expected;
  }

  const unfinished = async () =>
    (await scene.db('notification_deliveries').whereIn('state', ['collecting', 'waiting'])).length;

  it('of one rule waits for the one before it, and for no other rule', async () => {
    const receiver = await scene.receiver();
    receiver.react = ({ body }) => ({ status: body.includes('"ruleId":"stuck"') ? 500 : 200 });
    await scene.teamEndpoint(receiver.url);
    const loop = await scene.loop();
    const stuck = scene.notice({ ruleId: 'stuck', eventId: 'first' });
    await scene.enqueue(stuck, scene.notice({ ruleId: 'other', eventId: 'other' }));
    await scene.advance(loop, 15 * SECOND);
    await scene.enqueue(scene.resolved(stuck), scene.notice({ ruleId: 'other', eventId: 'another' }));
    await scene.advance(loop, 2 * MINUTE, 5 * SECOND);
    expect(idsOf(receiver)).to.deep.equal(['other', 'another']);
    receiver.react = () => ({ status: 200 });
    await scene.advance(loop, 5 * MINUTE, MINUTE);
    const states = receiver.taken.slice(2).map(({ data }) => `${data.eventId} ${data.status}`);
    expect(states).to.deep.equal(['first firing', 'first resolved']);
  });
});
