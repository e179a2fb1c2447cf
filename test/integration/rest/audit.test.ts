/** The audit log over REST, as a program follows it. */
import { expect } from 'chai';
import { makeKey, type RestCall, restClient } from '../../support/clients/rest.ts';
import { useController, useRoot } from '../../support/harness/controller.ts';
import { until } from '../../support/harness/until.ts';
import { testEnvironment } from '../../support/scenes/two-teams.ts';

interface Event {
  id: string;
  seq: number;
  actorType: string;
  userEmail: string;
  action: string;
  entityType: string;
  entityId: string;
  metadata: { name?: string } | null;
  environmentId: string;
  teamId: string;
  createdAt: string;
}
interface Page {
  events: Event[];
  cursor: string;
  hasMore: boolean;
}

const FIELDS =
  'action actorType commitSha createdAt diff entityId entityType environmentId hash id ipAddress metadata prevHash seq teamId userEmail userId';
const WRITERS = 20;
const EACH = 5;

describe('the audit log over REST', () => {
  const test = useController();
  const root = useRoot(test);
  let ours: { teamId: string; environmentId: string };
  let other: { environmentId: string };
  let call: RestCall;

  before(async () => {
    ours = await testEnvironment(root, 'ours');
    other = await testEnvironment(root, 'other');
    call = restClient(test.url, (await makeKey(root, ours.environmentId)).key);
  });

  const page = async (query: Record<string, string> = {}): Promise<Page> => {
    const answer = await call('GET', `/audit?${new URLSearchParams(query)}`);
    expect(answer.status, answer.text).to.equal(200);
    return answer.json<Page>();
  };
  const numbered = () =>
    until(async () => (await test.db('audit_log').whereNull('seq')).length === 0, {
      what: 'all to be numbered',
    });
  const make = (name: string, environmentId = ours.environmentId) =>
    root.mutate<{ id: string }>('secret.create', { environmentId, name, value: 'x' });

  it('tells who did what to which thing, with every field', async () => {
    const { id } = await make('told');
    await numbered();
    const told = (await page({ limit: '200' })).events.find(({ entityId }) => entityId === id)!;
    expect(Object.keys(told).sort().join(' ')).to.equal(FIELDS);
    expect(told).to.deep.include({
      actorType: 'user',
      userEmail: root.email,
      action: 'secret.created',
      entityType: 'Secret',
      environmentId: ours.environmentId,
      teamId: ours.teamId,
      ipAddress: '127.0.0.1',
      metadata: { name: 'told' },
    });
    expect(new Date(told.createdAt).toISOString()).to.equal(told.createdAt);
  });

  it('tells nothing of another environment, and nothing that belongs to none', async () => {
    await make('elsewhere', other.environmentId);
    await root.mutate('user.createToken', { name: 'laptop' });
    await numbered();
    const { events } = await page({ limit: '200' });
    expect(new Set(events.map(({ environmentId }) => environmentId))).to.deep.equal(
      new Set([ours.environmentId]),
    );
    expect(events.some(({ action }) => action === 'user.tokenCreated')).to.equal(false);
  });

  it('gives 50 unless told otherwise, and a cursor to go on from', async () => {
    await test.db.raw(
      `INSERT INTO audit_log (id, actor_type, action, entity_type, environment_id, created_at)
       SELECT 'many-' || n, 'system', 'secret.created', 'Secret', ?, now() FROM generate_series(1, 52) n`,
      [ours.environmentId],
    );
    await numbered();
    const first = await page({ action: 'secret.created' });
    expect(first.events).to.have.length(50);
    expect(first.hasMore).to.equal(true);
    expect(first.cursor).to.equal(String(first.events.at(-1)!.seq));
    const rest = await page({ action: 'secret.created', after: first.cursor });
    expect(rest.events.length).to.be.greaterThan(0);
    expect(rest.hasMore).to.equal(false);
    expect(rest.events[0]!.seq).to.be.greaterThan(Number(first.cursor));
    expect(await page({ after: rest.cursor, action: 'secret.created' })).to.deep.equal({
      events: [],
      cursor: rest.cursor,
      hasMore: false,
    });
  });

  it('shows a change after it was answered', async () => {
    await numbered();
    let { cursor } = await page({ limit: '1' });
    for (
      let next = await page({ after: cursor });
      next.events.length > 0;
      next = await page({ after: cursor })
    )
      cursor = next.cursor;
    await make('soon');
    await until(async () => (await page({ after: cursor })).events.length > 0, {
      what: 'the change to be told',
    });
  });

  it('is followed without a gap or a repeat while 20 change things at once', async function () {
    this.timeout(60_000);
    this.slow(15_000);
    await numbered();
    const start = String((await test.db('audit_log').max('seq as seq').first())?.seq ?? 0);
    const { environmentId } = ours;
    let writing = true;
    const seen: Event[] = [];
    let cursor = start;
    const follower = until(
      async () => {
        const next = await page({ after: cursor, limit: '9' });
        seen.push(...next.events);
        ({ cursor } = next);
        return !writing && seen.length >= WRITERS * EACH;
      },
      // A key may ask 600 times a minute.
      { what: () => `all to be told: ${seen.length} were`, timeoutMs: 50_000, everyMs: 50 },
    );
    await Promise.all(
      Array.from({ length: WRITERS }, async (_, writer) => {
        for (let n = 0; n < EACH; n++) {
          // What others do takes numbers of the same order.
          if (writer % 4 === 0) await make(`far_${writer}_${n}`, other.environmentId);
          await make(`by_${writer}_${n}`, environmentId);
        }
      }),
    );
    writing = false;
    await follower;
    const names = seen.map(({ metadata }) => metadata?.name ?? '');
    expect(new Set(names).size).to.equal(names.length);
    expect(names.filter((name) => name.startsWith('by_'))).to.have.length(WRITERS * EACH);
    const seqs = seen.map(({ seq }) => seq);
    expect([...seqs].sort((a, b) => a - b)).to.deep.equal(seqs);
    const all: number[] = await test.db('audit_log').whereNotNull('seq').orderBy('seq').pluck('seq');
    expect(all).to.deep.equal(all.map((_, index) => index + 1));
  });
});
