/** stream.*: the audit log as it leaves for other systems, in order and at least once. */
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { verifierOf } from '../../../controller/delivery/bindings/webhooks/webhook-signature.ts';
import type { AuditEvent } from '../../../schemas/api/insight/audit.ts';
import type { EventStream, StreamTest } from '../../../schemas/api/insight/event-streams.ts';
import { startTestController, type TestController } from '../../support/harness/controller.ts';
import { freePort } from '../../support/harness/headgate.ts';
import { type TestDatabase, testDatabase } from '../../support/harness/postgres.ts';
import { until } from '../../support/harness/until.ts';
import { OtlpReceiver } from '../../support/servers/otlp-receiver.ts';
import { type Received, Receiver } from '../../support/servers/receiver.ts';
import type { TestUser } from '../../support/users/person.ts';

const HEADER = 'the-secret-of-the-receiver';

describe('streams of the audit log', function () {
  this.timeout(60_000);
  let database: TestDatabase;
  let dataDir: string;
  let test: TestController;
  let root: TestUser;
  let receivers: { close(): Promise<void> }[];
  let named = 0;

  const start = async () => {
    test = await startTestController({ databaseUrl: database.url, dataDir });
    root = await test.root();
  };
  before(async () => {
    database = await testDatabase();
    dataDir = mkdtempSync(join(tmpdir(), 'headgate-streams-'));
    await start();
  });
  after(async () => {
    await test?.stop();
    await database?.drop();
    await rm(dataDir, { recursive: true, force: true });
  });
  beforeEach(() => {
    receivers = [];
  });
  afterEach(async () => {
    await test.db('event_streams').delete();
    for (const receiver of receivers) await receiver.close();
  });

  /** `silent`: requests get no answer. */
  async function receive(status: number | 'silent' = 200): Promise<Receiver> {
    const receiver = await Receiver.start();
    receiver.status = status === 'silent' ? undefined : status;
    receivers.push(receiver);
    return receiver;
  }
  const create = (url: string, more: object = {}) =>
    root.mutate<{ stream: EventStream; signingSecret: string | null }>('stream.create', {
      ...{ name: `stream ${++named}`, source: 'audit', kind: 'webhook', url, ...more },
    });
  const list = () => root.query<EventStream[]>('stream.list');
  const one = async (id: string) => (await list()).find((stream) => stream.id === id) as EventStream;
  /** An event whose entity is named by `n`. */
  const happen = (n: number) => root.mutate('team.create', { name: `happened ${n}` });
  /** A stream begins with the next number: what has none yet is sent too. */
  const untilNumbered = () =>
    until(async () => (await test.db('audit_log').whereNull('seq').first('id')) === undefined, {
      what: 'all events to be numbered',
    });
  const faultOf = async (name: string, input: object) => (await root.call('mutation', name, input)).fault;

  const entriesOf = (requests: readonly Received[]): AuditEvent[] =>
    requests.flatMap(({ body }) => (JSON.parse(body) as { entries: AuditEvent[] }).entries);
  const taken = ({ requests }: Receiver) => requests.filter(({ status }) => status === 200);
  const happened = (entries: readonly AuditEvent[]): string[] =>
    entries.flatMap(({ action, diff }) => {
      const name = action === 'team.created' ? String((diff?.name as unknown[] | undefined)?.[1]) : '';
      return name.startsWith('happened') ? name : [];
    });
  const untilHappened = (receiver: Receiver, n: number) =>
    until(() => happened(entriesOf(taken(receiver))).includes(`happened ${n}`), {
      what: () => `happened ${n} to be received; ${receiver.requests.length} requests came`,
      timeoutMs: 20_000,
    });
  /** Each number follows the one before. */
  const assertInOrder = (entries: readonly AuditEvent[]) =>
    expect(entries.map(({ seq }) => seq)).to.deep.equal(
      entries.map((_, index) => (entries[0]?.seq ?? 0) + index),
    );

  it('send each event once it happened, signed, in the form of the REST page', async () => {
    await happen(1);
    await untilNumbered();
    const receiver = await receive();
    const { stream, signingSecret } = await create(receiver.url, { headers: { authorization: HEADER } });
    expect(stream).to.deep.include({
      headerNames: ['authorization'],
      isSigned: true,
      failures: 0,
      missed: null,
    });
    for (const n of [2, 3]) await happen(n);
    await untilHappened(receiver, 3);
    const entries = entriesOf(receiver.requests);
    expect(happened(entries), 'from now on').to.deep.equal(['happened 2', 'happened 3']);
    assertInOrder(entries);
    const [request] = receiver.requests;
    expect(request?.headers).to.deep.include({ authorization: HEADER, 'content-type': 'application/json' });
    expect(JSON.parse(request?.body ?? '{}'))
      .to.have.all.keys('type', 'entries')
      .and.include({ type: 'audit.entries' });
    for (const { headers, body } of receiver.requests) {
      const verifier = verifierOf('gitlab', signingSecret ?? '', { headers, now: Date.now() });
      verifier.update(Buffer.from(body));
      expect(verifier.isSigned()).to.equal(true);
    }
    const [first] = entries;
    const row = await test.db('audit_log').where({ seq: first?.seq }).first();
    expect(first).to.deep.include({
      ...{ id: row?.id, hash: row?.hash, prevHash: row?.prev_hash, action: row?.action },
      createdAt: row?.created_at.toISOString(),
    });
    // Counted once the receiver has answered.
    await until(async () => (await one(stream.id)).delivered >= entries.length, {
      what: 'all to be counted',
    });
    expect(await one(stream.id)).to.deep.include({ lastError: null, failures: 0 });
  });

  it('begin with the oldest event that is kept where they are asked to', async () => {
    const receiver = await receive();
    await create(receiver.url, { startAt: 'oldest' });
    await happen(4);
    await untilHappened(receiver, 4);
    const entries = entriesOf(receiver.requests);
    expect(entries[0]?.seq).to.equal(1);
    assertInOrder(entries);
  });

  it('come again under the same id after an error, and in order', async () => {
    const receiver = await receive(500);
    const { stream } = await create(receiver.url);
    await happen(5);
    await until(() => receiver.requests.length > 1, { what: 'another try' });
    const failing = await one(stream.id);
    expect(failing.lastError).to.equal('The endpoint answered with status 500');
    expect(failing.failures).to.be.at.least(1);
    expect(failing.waiting).to.be.at.least(1);
    expect(failing.enabled).to.equal(true);
    await happen(6);
    receiver.status = 200;
    await untilHappened(receiver, 6);
    const ids = receiver.requests.map(({ headers }) => headers['webhook-id']);
    const [first] = taken(receiver);
    expect(first?.headers['webhook-id'], 'the same batch').to.equal(ids[0]);
    expect(first?.body).to.equal(receiver.requests[0]?.body);
    const entries = entriesOf(taken(receiver));
    expect(happened(entries)).to.deep.equal(['happened 5', 'happened 6']);
    assertInOrder(entries);
    expect(await one(stream.id)).to.deep.include({ lastError: null, failures: 0 });
  });

  it('wait for a receiver that is away, and lose nothing', async () => {
    const port = await freePort();
    const { stream } = await create(`http://127.0.0.1:${port}/in`);
    for (const n of [7, 8]) await happen(n);
    await until(async () => (await one(stream.id)).failures > 0, { what: 'a failed delivery' });
    expect((await one(stream.id)).lastError).to.match(/nothing listens at this port/);
    const receiver = await Receiver.start(port);
    receivers.push(receiver);
    await untilHappened(receiver, 8);
    expect(happened(entriesOf(receiver.requests))).to.deep.equal(['happened 7', 'happened 8']);
  });

  it('come again after a restart where nobody knows whether they were taken', async () => {
    const receiver = await receive('silent');
    await create(receiver.url);
    await happen(9);
    await until(() => receiver.requests.length > 0, { what: 'a request' });
    await test.stop();
    receiver.status = 200;
    await start();
    await happen(10);
    await untilHappened(receiver, 10);
    const [lost] = receiver.requests;
    const [again] = taken(receiver);
    expect(again?.headers['webhook-id']).to.equal(lost?.headers['webhook-id']);
    expect(again?.body).to.equal(lost?.body);
    const entries = entriesOf(taken(receiver));
    expect(happened(entries)).to.deep.equal(['happened 9', 'happened 10']);
    assertInOrder(entries);
  });

  it('keep no other stream waiting while one is slow', async () => {
    const slow = await receive('silent');
    const quick = await receive();
    const { stream } = await create(slow.url);
    await create(quick.url);
    await happen(11);
    await untilHappened(quick, 11);
    expect(slow.requests.filter(({ status }) => status === 200)).to.have.length(0);
    await until(async () => (await one(stream.id)).failures > 0, { what: 'the deadline', timeoutMs: 20_000 });
    slow.status = 200;
    await untilHappened(slow, 11);
  });

  it('stay on where a receiver refuses for good, and go on once they are changed', async () => {
    const receiver = await receive(401);
    const { stream } = await create(receiver.url);
    await happen(12);
    await until(async () => (await one(stream.id)).failures > 0, { what: 'a refusal' });
    expect(await one(stream.id)).to.deep.include({
      ...{ enabled: true, lastError: 'The endpoint answered with status 401; check its address and headers' },
    });
    receiver.status = 200;
    await root.mutate('stream.update', { id: stream.id, headers: { authorization: HEADER } });
    await untilHappened(receiver, 12);
    expect(taken(receiver)[0]?.headers.authorization).to.equal(HEADER);
  });

  it('go on with the oldest event that is left where the retention was faster, and say how many are missing', async () => {
    const receiver = await receive();
    const { stream } = await create(receiver.url, { enabled: false });
    await happen(13);
    await until(async () => (await one(stream.id)).waiting > 1, { what: 'events to be numbered' });
    const { cursor } = await one(stream.id);
    await test
      .db('audit_log')
      .where('seq', '>', cursor)
      .andWhere('seq', '<=', cursor + 2)
      .delete();
    await happen(14);
    await root.mutate('stream.update', { id: stream.id, enabled: true });
    await untilHappened(receiver, 14);
    await until(async () => (await one(stream.id)).missed !== null, { what: 'the gap to be recorded' });
    const { missed } = await one(stream.id);
    expect(missed).to.deep.include({
      ...{ entries: 2, reason: 'deleted by the retention before they were delivered' },
    });
    expect(entriesOf(receiver.requests)[0]?.seq).to.equal(cursor + 3);
  });

  it('send nothing while they are disabled, and what came meanwhile afterwards', async () => {
    const receiver = await receive();
    const { stream } = await create(receiver.url);
    await root.mutate('stream.update', { id: stream.id, enabled: false });
    const before = receiver.requests.length;
    await happen(15);
    await until(async () => (await one(stream.id)).waiting > 0, { what: 'an event to wait' });
    expect(receiver.requests.length).to.be.at.most(before + 1);
    expect(happened(entriesOf(receiver.requests))).to.deep.equal([]);
    await root.mutate('stream.update', { id: stream.id, enabled: true });
    await untilHappened(receiver, 15);
  });

  it('are cut into batches of at most 100 events', async () => {
    const receiver = await receive();
    const { stream } = await create(receiver.url, { enabled: false });
    await test.db.raw(
      `INSERT INTO audit_log (id, actor_type, action, entity_type, created_at)
       SELECT 'many-' || lpad(n::text, 4, '0'), 'system', 'thing.happened', 'Thing', now() FROM generate_series(1, 250) n`,
    );
    await until(async () => (await one(stream.id)).waiting >= 250, { what: 'events to be numbered' });
    await root.mutate('stream.update', { id: stream.id, enabled: true });
    const many = () => entriesOf(receiver.requests).filter(({ action }) => action === 'thing.happened');
    await until(() => many().length >= 250, { what: 'all of them' });
    expect(many()).to.have.length(250);
    assertInOrder(entriesOf(receiver.requests));
    expect(Math.max(...receiver.requests.map((request) => entriesOf([request]).length))).to.equal(100);
  });

  describe('to an OTLP endpoint', () => {
    it('are log records with a time, a body and attributes', async () => {
      const receiver = await OtlpReceiver.start();
      receivers.push(receiver);
      const { signingSecret, stream } = await create(receiver.url, { kind: 'otlp' });
      expect([signingSecret, stream.isSigned]).to.deep.equal([null, false]);
      await happen(16);
      const record = () => receiver.records.find(({ eventName }) => eventName === 'team.created');
      await until(() => record() !== undefined, { what: 'a record' });
      expect(receiver.wrong).to.deep.equal([]);
      expect([...receiver.paths]).to.deep.equal(['/v1/logs']);
      expect([...receiver.scopes]).to.deep.equal(['headgate.audit']);
      expect(receiver.resources[0]).to.include({ 'service.name': 'headgate' });
      const found = record();
      expect(found?.body).to.match(/^root@example\.org: team\.created Team \w+$/);
      expect(found?.attributes).to.include({ 'audit.actor_type': 'user', 'client.address': '127.0.0.1' });
      const row = await test.db('audit_log').where({ seq: found?.attributes['audit.seq'] }).first();
      expect(found?.attributes['audit.hash']).to.equal(row?.hash);
      expect(found?.timeUnixNano).to.equal(`${row?.created_at.getTime()}000000`);
    });

    it('are counted as missing where it takes a request and refuses records of it', async () => {
      const receiver = await OtlpReceiver.start();
      receivers.push(receiver);
      receiver.partial = { rejectedLogRecords: '1', errorMessage: 'too\u001b old' };
      const { stream } = await create(`${receiver.url}/otlp/v1/logs`, { kind: 'otlp' });
      await until(async () => (await one(stream.id)).missed !== null, { what: 'the refusal' });
      const { missed, failures } = await one(stream.id);
      expect(missed?.reason).to.equal('refused by the endpoint: too\ufffd old');
      expect(failures).to.equal(0);
      expect([...receiver.paths]).to.deep.equal(['/otlp/v1/logs']);
    });
  });

  it('are tested past what waits', async () => {
    const receiver = await receive(500);
    const { stream } = await create(receiver.url, { enabled: false });
    const ask = () => root.mutate<StreamTest>('stream.test', { id: stream.id });
    expect(await ask()).to.deep.equal({
      ...{ delivered: false, status: 500, message: 'The endpoint answered with status 500' },
    });
    receiver.status = 204;
    expect(await ask()).to.deep.include({ delivered: true, status: 204 });
    expect(JSON.parse(receiver.requests[0]?.body ?? '{}').type).to.equal('test');
    expect(await one(stream.id)).to.deep.include({ delivered: 0, failures: 0 });
  });

  it('keep headers and signing secrets sealed, and return none but a new secret once', async () => {
    const receiver = await receive();
    const { stream, signingSecret } = await create(receiver.url, {
      ...{ headers: { authorization: HEADER }, enabled: false },
    });
    expect(signingSecret).to.match(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const renewed = await root.mutate<{ signingSecret: string }>('stream.update', {
      ...{ id: stream.id, renewSigningSecret: true },
    });
    expect(renewed.signingSecret)
      .to.match(/^whsec_/)
      .and.not.equal(signingSecret);
    const stored = JSON.stringify([
      await test.db('event_streams'),
      await test.db('audit_log'),
      await list(),
      test.log(),
    ]);
    for (const secret of [HEADER, signingSecret ?? '', renewed.signingSecret])
      expect(stored).to.not.include(secret).and.not.include(secret.replace('whsec_', ''));
  });

  it('say what is wrong with an address or a header', async () => {
    const wrong = async (more: object) => {
      const input = {
        name: 'wrong',
        source: 'audit',
        kind: 'webhook',
        url: 'http://127.0.0.1:9/in',
        ...more,
      };
      const fault = await faultOf('stream.create', input);
      return `${fault?.data.code} ${fault?.message}`;
    };
    expect(await wrong({ url: 'ftp://example.org' })).to.match(/BAD_REQUEST url: .*https:\/\//);
    expect(await wrong({ url: 'http://10.1.2.3/in' })).to.match(
      /BAD_REQUEST url: .*HEADGATE_PRIVATE_TARGETS/,
    );
    expect(await wrong({ url: 'https://user:password@example.org' })).to.match(
      /no user name and no password/,
    );
    expect(await wrong({ headers: { 'Webhook-Id': 'x' } })).to.match(/"Webhook-Id" is set by Headgate/);
    expect(await wrong({ headers: { 'a b': 'x' } })).to.match(/"a b" is not a name of a header/);
    expect(await wrong({ headers: { a: '1', A: '2' } })).to.match(/"A" is there twice/);
    expect(await wrong({ headers: { a: 'x\ny' } })).to.match(/BAD_REQUEST .*printable ASCII/);
    const receiver = await receive();
    const { stream } = await create(receiver.url, { headers: { authorization: HEADER }, enabled: false });
    const elsewhere = await faultOf('stream.update', { id: stream.id, url: 'http://127.0.0.1:9/in' });
    expect(elsewhere?.message).to.match(/another address needs its headers again/);
    await root.mutate('stream.update', { id: stream.id, url: 'http://127.0.0.1:9/in', headers: null });
    expect((await faultOf('stream.create', { ...stream, id: undefined }))?.data.code).to.equal('BAD_REQUEST');
    const again = { name: stream.name.toUpperCase(), source: 'audit', kind: 'otlp', url: receiver.url };
    expect((await faultOf('stream.create', again))?.data.code).to.equal('CONFLICT');
    for (const name of ['stream.update', 'stream.delete', 'stream.test'])
      expect((await faultOf(name, { id: 'nothing' }))?.data.code, name).to.equal('NOT_FOUND');
  });

  it('are 20 at most', async () => {
    const receiver = await receive();
    for (let n = 0; n < 20; n += 1) await create(receiver.url, { enabled: false });
    const fault = await faultOf('stream.create', {
      ...{ name: 'one more', source: 'audit', kind: 'webhook', url: receiver.url },
    });
    expect(fault?.data.code).to.equal('PRECONDITION_FAILED');
    expect(fault?.message).to.include('delete one first');
  });
});
