/** A POST with an `Idempotency-Key` is done once, however often it is sent, and whatever happens to the first one. */
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import stringify from 'fast-json-stable-stringify';
import { deleteOldResponses } from '../../../api/rest/idempotency-store.ts';
import type { HttpResponse } from '../../support/clients/http.ts';
import {
  draftPipeline,
  makeKey,
  type RestCall,
  type RestKey,
  restClient,
} from '../../support/clients/rest.ts';
import { startTestController, useController, useRoot } from '../../support/harness/controller.ts';
import { until } from '../../support/harness/until.ts';
import { testEnvironment } from '../../support/scenes/two-teams.ts';

describe('a POST with an Idempotency-Key', () => {
  const test = useController();
  const root = useRoot(test);
  let environmentId: string;
  let account: RestKey;
  let call: RestCall;
  let n = 0;

  before(async () => {
    ({ environmentId } = await testEnvironment(root));
    account = await makeKey(root, environmentId);
    call = restClient(test.url, account.key);
  });

  const freshKey = () => `key-${++n}`;
  const post = (path: string, body: unknown, key: string, client = call): Promise<HttpResponse> =>
    client('POST', path, { body, headers: { 'idempotency-key': key } });
  const draft = () => draftPipeline(root, environmentId, `idempotent ${++n}`);
  const deploy = (id: string, key: string, changelog = 'once', client = call) =>
    post(`/pipelines/${id}/deploy`, { changelog }, key, client);
  const versionsOf = async (id: string) =>
    (await root.query<{ id: string }[]>('pipeline.versions', { pipelineId: id })).length;
  const secret = (name = `s_${++n}`) => ({ name, value: 'of-the-idempotency-test' });
  const replayed = (answer: HttpResponse) => answer.headers['idempotent-replayed'];
  const row = (key: string) =>
    test.db('idempotent_requests').where({ key, service_account_id: account.accountId });
  const age = (key: string, interval: string) =>
    row(key).update({ created_at: test.db.raw('created_at - ?::interval', [interval]) });

  it('gives the first answer again, and does nothing a second time', async () => {
    const [id, key] = [await draft(), freshKey()];
    const first = await deploy(id, key);
    expect(first.status).to.equal(200);
    expect(replayed(first)).to.equal(undefined);
    for (let again = 0; again < 3; again++) {
      const answer = await deploy(id, key);
      expect(answer.status).to.equal(200);
      expect(answer.text).to.equal(first.text);
      expect(answer.headers['content-type']).to.equal(first.headers['content-type']);
      expect(replayed(answer)).to.equal('true');
    }
    expect(await versionsOf(id)).to.equal(1);
  });

  it('gives it again with its status, for every row that makes something', async () => {
    const [key, body] = [freshKey(), secret()];
    const first = await post('/secrets', body, key);
    const again = await post('/secrets', body, key);
    expect([first.status, again.status]).to.deep.equal([201, 201]);
    expect(again.text).to.equal(first.text);
    const id = await draft();
    await deploy(id, freshKey());
    const undeploy = freshKey();
    for (const expected of [undefined, 'true']) {
      const answer = await call('POST', `/pipelines/${id}/undeploy`, {
        headers: { 'idempotency-key': undeploy },
      });
      expect(answer.status).to.equal(200);
      expect(replayed(answer)).to.equal(expected);
    }
  });

  it('takes the same fields in another order for the same request', async () => {
    const key = freshKey();
    const { name, value } = secret();
    await post('/secrets', { name, value }, key);
    expect(replayed(await post('/secrets', { value, name }, key))).to.equal('true');
  });

  it('does it once where ten come at once', async () => {
    const [id, key] = [await draft(), freshKey()];
    const answers = await Promise.all(Array.from({ length: 10 }, () => deploy(id, key)));
    const done = answers.filter(({ status }) => status === 200);
    const busy = answers.filter(({ status }) => status === 409);
    expect(done.length + busy.length).to.equal(10);
    expect(done.filter((answer) => !replayed(answer))).to.have.length(1);
    expect(new Set(done.map(({ text }) => text)).size).to.equal(1);
    for (const { headers } of busy) expect(headers['retry-after']).to.equal('1');
    expect(await versionsOf(id)).to.equal(1);
    expect(replayed(await deploy(id, key))).to.equal('true');
  });

  it('refuses the key with another body or path, and keeps the first answer', async () => {
    const [one, other, key] = [await draft(), await draft(), freshKey()];
    await deploy(one, key);
    for (const answer of [await deploy(one, key, 'another'), await deploy(other, key)]) {
      expect(answer.status).to.equal(422);
      expect(answer.json<{ error: string }>().error).to.include('Idempotency-Key');
      expect(replayed(answer)).to.equal(undefined);
    }
    expect(await versionsOf(other)).to.equal(0);
    expect(replayed(await deploy(one, key))).to.equal('true');
  });

  it('keeps the keys of one service account apart from those of another', async () => {
    const other = restClient(test.url, (await makeKey(root, environmentId)).key);
    const [id, key] = [await draft(), freshKey()];
    await deploy(id, key);
    expect(replayed(await deploy(id, key, 'once', other))).to.equal(undefined);
    expect(await versionsOf(id)).to.equal(2);
  });

  it('gives a refusal again too', async () => {
    const [key, body] = [freshKey(), secret()];
    await call('POST', '/secrets', { body });
    const refused = await post('/secrets', body, key);
    expect(refused.status).to.equal(409);
    await call('DELETE', `/secrets?name=${body.name}`);
    const again = await post('/secrets', body, key);
    expect([again.status, again.text, replayed(again)]).to.deep.equal([409, refused.text, 'true']);
    expect((await post('/secrets', body, freshKey())).status).to.equal(201);
  });

  it('tries again after a fault of the server', async () => {
    const [key, body] = [freshKey(), secret()];
    await test.db.raw(`
      CREATE FUNCTION refuse_secrets() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'out of order'; END $$;
      CREATE TRIGGER refuse_secrets BEFORE INSERT ON secrets FOR EACH ROW EXECUTE FUNCTION refuse_secrets()`);
    try {
      expect((await post('/secrets', body, key)).status).to.equal(500);
      expect(await row(key)).to.deep.equal([]);
    } finally {
      await test.db.raw('DROP FUNCTION refuse_secrets CASCADE');
    }
    const again = await post('/secrets', body, key);
    expect([again.status, replayed(again)]).to.deep.equal([201, undefined]);
  });

  it('waits for one that is at work, and takes over from one that died', async () => {
    const [key, body] = [freshKey(), secret()];
    await post('/secrets', body, key);
    await call('DELETE', `/secrets?name=${body.name}`);
    // As a controller leaves it that is killed before it has an answer.
    await row(key).update({ status: null, body: null });
    await age(key, '110 seconds');
    const busy = await post('/secrets', body, key);
    expect([busy.status, busy.headers['retry-after']]).to.deep.equal([409, '1']);
    await age(key, '20 seconds');
    expect((await post('/secrets', secret(), key)).status, 'another request').to.equal(422);
    const done = await post('/secrets', body, key);
    expect([done.status, replayed(done)]).to.deep.equal([201, undefined]);
    expect(replayed(await post('/secrets', body, key))).to.equal('true');
  });

  it('lets no request finish that was taken for dead', async () => {
    const [id, key] = [await draft(), freshKey()];
    const waiting = async (count: number) =>
      until(
        async () => {
          const { rows } = await test.db.raw(
            `SELECT count(*) AS n FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`,
          );
          return rows[0].n >= count;
        },
        { what: `${count} to wait for the pipeline` },
      );
    const hold = await test.db.transaction();
    let late: Promise<HttpResponse>;
    let next: Promise<HttpResponse>;
    try {
      await hold('pipelines').where({ id }).forUpdate().first('id');
      late = deploy(id, key);
      await waiting(1);
      await age(key, '3 minutes');
      next = deploy(id, key);
      await waiting(2);
    } finally {
      await hold.rollback();
    }
    const [lost, done] = [await late, await next];
    expect([lost.status, done.status]).to.deep.equal([409, 200]);
    expect(lost.json<{ error: string }>().error).to.include('was started again');
    expect(await versionsOf(id)).to.equal(1);
    const again = await deploy(id, key);
    expect([again.text, replayed(again)]).to.deep.equal([done.text, 'true']);
  });

  it('is known to every controller', async () => {
    const [id, key] = [await draft(), freshKey()];
    const first = await deploy(id, key);
    const other = await startTestController({ databaseUrl: test.databaseUrl, dataDir: test.config.dataDir });
    try {
      const answer = await deploy(id, key, 'once', restClient(other.url, account.key));
      expect([answer.text, replayed(answer)]).to.deep.equal([first.text, 'true']);
    } finally {
      await other.stop();
    }
  });

  it('is forgotten after a day', async () => {
    const [id, key] = [await draft(), freshKey()];
    await deploy(id, key);
    await age(key, '23 hours 50 minutes');
    expect(replayed(await deploy(id, key))).to.equal('true');
    await deleteOldResponses(test.db);
    expect(await row(key)).to.have.length(1);
    await age(key, '20 minutes');
    const another = await deploy(id, key, 'another request');
    expect([another.status, replayed(another)]).to.deep.equal([200, undefined]);
    await age(key, '25 hours');
    await deleteOldResponses(test.db);
    expect(await row(key)).to.deep.equal([]);
  });

  it('is stored without secrets, and without what one could be guessed from', async () => {
    const [key, body] = [freshKey(), secret()];
    await post('/secrets', body, key);
    const stored = JSON.stringify(await row(key));
    expect(stored).not.to.include(body.value);
    const request = stringify({ method: 'POST', path: '/api/v1/secrets', body });
    expect(stored).not.to.include(createHash('sha256').update(request).digest('hex'));
  });

  it('answers 400 to a key that is empty, too long, with a space or beyond ASCII', async () => {
    for (const key of ['', 'x'.repeat(256), 'a b', 'schlüssel']) {
      const answer = await post('/secrets', secret(), key);
      expect(answer.status, key).to.equal(400);
      expect(answer.json<{ error: string }>().error).to.include('Idempotency-Key');
    }
    expect((await post('/secrets', secret(), 'x'.repeat(240))).status).to.equal(201);
  });

  it('is for the other methods what it is for a POST: another value with the same key is refused', async () => {
    const [key, { name }] = [freshKey(), secret()];
    await post('/secrets', { name, value: 'x' }, freshKey());
    const put = (value: string) =>
      call('PUT', '/secrets', { body: { name, value }, headers: { 'idempotency-key': key } });
    const [first, again, other] = [await put('a'), await put('a'), await put('b')];
    expect([first.status, replayed(first)]).to.deep.equal([200, undefined]);
    expect([again.status, replayed(again), again.text]).to.deep.equal([200, 'true', first.text]);
    expect(other.status).to.equal(422);
  });
});
