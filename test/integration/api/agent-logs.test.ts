/** POST /api/agent/logs: lines are stored before they are acknowledged, and what is wrong with some harms no others. */
import { expect } from 'chai';
import pg from 'pg';
import type { LogLine, LogPage } from '../../../schemas/api/fleet/logs.ts';
import { enrollNode, heartbeat, type TestNode } from '../../support/agents/agent-client.ts';
import { openStream, send } from '../../support/clients/http.ts';
import { useController } from '../../support/harness/controller.ts';
import { watchStatements } from '../../support/harness/statements.ts';
import { until } from '../../support/harness/until.ts';
import { useTwoTeams } from '../../support/scenes/two-teams.ts';

const LIMIT_BYTES = 8 * 1024 * 1024;

describe('a delivery of log lines', () => {
  const test = useController();
  const teams = useTwoTeams(test);
  let node: TestNode;
  let pipelineId: string;
  let token: string;
  let nodes = 0;

  const newNode = (): Promise<TestNode> => enrollNode(test.url, token, { hostname: `writes-${++nodes}` });

  before(async function () {
    this.timeout(30_000);
    pipelineId = teams.ours.pipelineId;
    ({ token } = await teams.root.mutate<{ token: string }>('environment.generateEnrollmentToken', {
      environmentId: teams.ours.environmentId,
    }));
  });
  beforeEach(async () => {
    node = await newNode();
  });

  /** Stored lines of the node, oldest first. */
  const stored = async (of = node): Promise<string[]> =>
    test.db('log_lines').where({ node_id: of.nodeId }).orderBy('seq').pluck('line');
  const pageOf = async (of = node): Promise<LogLine[]> =>
    (await teams.viewer.query<LogPage>('fleet.nodeLogs', { nodeId: of.nodeId })).lines;
  const delivered = async (body: unknown, of = node): Promise<number> => {
    const answer = await of.logs(body);
    expect(answer.status, answer.text).to.equal(200);
    const reply = answer.json<{ ok: boolean; rejected: number }>();
    expect(reply).to.have.all.keys('ok', 'rejected');
    expect(reply.ok).to.equal(true);
    return reply.rejected;
  };

  it('is stored when it is acknowledged, and is there to be read', async () => {
    const since = Date.now();
    expect(
      await delivered([{ pipelineId, lines: ['{"level":"warn","message":"slow"}', 'ERROR: x', 'more'] }]),
    ).to.equal(0);
    const lines = await pageOf();
    expect(lines.map(({ line, level }) => [line, level])).to.deep.equal([
      ['more', 'ERROR'],
      ['ERROR: x', 'ERROR'],
      ['{"level":"warn","message":"slow"}', 'WARN'],
    ]);
    expect(lines[0]).to.include({
      pipelineId,
      pipelineName: 'orders',
      nodeId: node.nodeId,
      nodeName: `writes-${nodes}`,
    });
    expect(Date.parse(String(lines[0]?.receivedAt))).to.be.within(since, Date.now());
  });

  it('may be empty', async () => {
    expect(await delivered([])).to.equal(0);
    expect(await delivered([{ pipelineId, lines: [] }])).to.equal(0);
    expect(await stored()).to.deep.equal([]);
  });

  it('keeps the order, whatever is sent beside it', async () => {
    const others = await Promise.all([newNode(), newNode(), newNode()]);
    const all = [node, ...others];
    await Promise.all(
      all.map(async (one) => {
        for (let part = 0; part < 4; part += 1) {
          const lines = Array.from({ length: 50 }, (_, n) => `line ${part * 50 + n}`);
          await delivered([{ pipelineId, lines }], one);
        }
      }),
    );
    for (const one of all)
      expect(await stored(one)).to.deep.equal(Array.from({ length: 200 }, (_, n) => `line ${n}`));
  });

  it('counts what is refused and keeps the rest', async () => {
    const REJECTED: [rejected: number, entry: unknown][] = [
      [2, { pipelineId: 'nothing-of-ours', lines: ['a', 'b'] }],
      [3, { pipelineId: teams.theirs.pipelineId, lines: ['a', 'b', 'c'] }],
      [1, { pipelineId: '../../etc', lines: ['a'] }],
      [2, { pipelineId: 'a\0b', lines: ['a', 'b'] }],
      [2, { lines: ['a', 'b'] }],
      [1, { pipelineId }],
      [1, { pipelineId, lines: 'text' }],
      [501, { pipelineId, lines: Array(501).fill('x') }],
      ...[null, 7, [['a']]].map((entry): [number, unknown] => [1, entry]),
    ];
    for (const [rejected, entry] of REJECTED) {
      const body = [{ pipelineId, lines: ['before'] }, entry, { pipelineId, lines: ['after'] }];
      expect(await delivered(body), JSON.stringify(entry)?.slice(0, 60)).to.equal(rejected);
    }
    expect(await stored()).to.deep.equal(REJECTED.flatMap(() => ['before', 'after']));
  });

  it('refuses a line that is no text alone', async () => {
    expect(await delivered([{ pipelineId, lines: ['a', 7, null, { b: 1 }, 'c'] }])).to.equal(3);
    expect(await stored()).to.deep.equal(['a', 'c']);
  });

  it('takes fields that it does not know, from a newer agent', async () => {
    expect(
      await delivered([{ pipelineId, lines: ['a'], compressed: false, nodeId: teams.theirs.node.nodeId }]),
    ).to.equal(0);
    expect(await stored()).to.deep.equal(['a']);
    expect(await stored(teams.theirs.node)).to.deep.equal([]);
  });

  it('takes what Postgres cannot keep out of a line, and cuts a long one', async () => {
    const long = 'x'.repeat(7_000_000);
    const split = `${'y'.repeat(8_191)}😀`;
    expect(
      await delivered([{ pipelineId, lines: ['a\0b', 'c\ud800d', '', '\t\u0001', long, split] }]),
    ).to.equal(0);
    const lines = await stored();
    expect(lines.slice(0, 4)).to.deep.equal(['ab', 'c\ufffdd', '', '\t\u0001']);
    expect(lines[4]).to.equal('x'.repeat(8_192));
    expect(lines[5]).to.equal(`${'y'.repeat(8_191)}\ufffd`);
  });

  it('answers 400 or 413 to what is no delivery', async () => {
    const REFUSED: [status: number, body: string][] = [
      ...['null', '{"pipelineId":"a","lines":["x"]}', '"lines"', '[{"pipelineId":', ''].map(
        (body): [number, string] => [400, body],
      ),
      [400, JSON.stringify(Array(3_000).fill({}))],
      [413, JSON.stringify([{ pipelineId: 'p', lines: ['x'.repeat(10_000_000)] }])],
    ];
    for (const [status, body] of REFUSED) {
      const answer = await node.logs(body, { 'content-type': 'application/json' });
      expect(answer.status, body.slice(0, 50)).to.equal(status);
      expect(answer.json().error).to.be.a('string');
    }
    expect(await stored()).to.deep.equal([]);
  });

  it('answers 413 to a body over 8 MiB that does not tell its length', async () => {
    const body = JSON.stringify([{ pipelineId, lines: ['x'.repeat(LIMIT_BYTES)] }]);
    const answer = await node.logs(body, { 'transfer-encoding': 'chunked' });
    expect(answer.status).to.equal(413);
    expect(answer.json().error).to.include('8388608');
  });

  it('answers 413 to more lines than one statement should have, however short they are', async () => {
    const entry = { pipelineId, lines: Array(500).fill('') };
    const answer = await node.logs(Array(41).fill(entry));
    expect(answer.status).to.equal(413);
    expect(answer.json().error).to.match(/20500 lines.* 20000; .*several requests/);
    expect(await stored()).to.deep.equal([]);
    expect(await delivered(Array(40).fill(entry))).to.equal(0);
    expect(await stored()).to.have.length(20_000);
  });

  it('answers 401 to a token that is wrong or missing', async () => {
    const answer = await node.logs([], { authorization: 'Bearer hgn_0_0' });
    expect(answer.status).to.equal(401);
    expect(answer.json().error).to.be.a('string');
    expect((await node.logs([], { authorization: '' })).status).to.equal(401);
  });

  it('answers 401 with the remedy to a node that was revoked', async () => {
    await test.db('nodes').where({ id: node.nodeId }).update({ token_revoked_at: new Date() });
    const { bus } = test.controller.systemContext('test').services;
    await bus.publish(test.db, {
      type: 'node',
      nodeId: node.nodeId,
      environmentId: teams.ours.environmentId,
    });
    await until(async () => (await node.logs([])).status === 401, { what: 'the node to be refused' });
    expect((await node.logs([{ pipelineId, lines: ['a'] }])).json()).to.include({ code: 'NODE_REVOKED' });
    expect(await stored()).to.deep.equal([]);
  });

  it('answers 429 with Retry-After from the 61st in a minute on, to that node alone', async () => {
    const statuses = await Promise.all(Array.from({ length: 60 }, async () => (await node.logs([])).status));
    expect(new Set(statuses)).to.deep.equal(new Set([200]));
    const answer = await node.logs([{ pipelineId, lines: ['too much'] }]);
    expect(answer.status).to.equal(429);
    expect(Number(answer.headers['retry-after'])).to.be.within(1, 60);
    expect(await stored()).to.deep.equal([]);
    expect((await (await newNode()).logs([])).status).to.equal(200);
    expect((await node.heartbeat(heartbeat())).status).to.equal(200);
  });

  describe('of a node that writes more than it may in an hour', () => {
    const MIB = 1024 * 1024;
    const line = 'x'.repeat(4_000);
    const much = () => [{ pipelineId, lines: Array.from({ length: 300 }, () => line) }];
    const limitTo = (logsMibPerNodeHour: number) =>
      teams.root.mutate('settings.updateFleet', {
        ...{ pollIntervalMs: 5_000, unhealthyThreshold: 3, logsMibPerNodeHour },
      });
    before(() => limitTo(1));
    after(() => limitTo(100));

    it('is answered 429 with Retry-After, and nothing of it is stored', async () => {
      expect(await delivered(much())).to.equal(0);
      const before = (await stored()).length;
      const answer = await node.logs(much());
      expect(answer.status).to.equal(429);
      expect(answer.json().error).to.include('1 MiB an hour').and.to.include('fleet settings');
      expect(Number(answer.headers['retry-after'])).to.be.within(1, 3_600);
      expect((await stored()).length).to.equal(before);
      expect(test.log()).to.include('a node sends more log lines than the settings allow in an hour');
    });

    it('is answered 429 for what comes beside what is being stored', async () => {
      const statuses = await Promise.all(
        Array.from({ length: 6 }, async () => (await node.logs(much())).status),
      );
      expect(statuses.sort()).to.deep.equal([200, 429, 429, 429, 429, 429]);
      expect((await stored()).length).to.equal(300);
    });

    it('has used nothing for what could not be stored', async () => {
      await test.db.raw('ALTER TABLE log_lines RENAME TO log_lines_away');
      try {
        expect((await node.logs(much())).status).to.equal(503);
      } finally {
        await test.db.raw('ALTER TABLE log_lines_away RENAME TO log_lines');
      }
      expect(await delivered(much())).to.equal(0);
    });

    it('is stored again once the setting allows more, and of other nodes as before', async () => {
      const other = await newNode();
      await delivered(much());
      expect((await node.logs(much())).status).to.equal(429);
      await delivered([{ pipelineId, lines: ['of another'] }], other);
      await limitTo(10);
      const again = async () => (await node.logs([{ pipelineId, lines: ['again'] }])).status === 200;
      await until(again, { what: 'the setting to be followed', everyMs: 400 });
      await limitTo(1);
      expect((await stored()).at(-1)).to.equal('again');
    });

    it('is left out where it comes by heartbeats, and the heartbeat is taken', async () => {
      const beat = (lines: string[]) =>
        node.heartbeat(
          heartbeat({ pipelines: [{ pipelineId, version: 1, status: 'RUNNING', recentLogs: lines }] }),
        );
      await beat(much()[0]?.lines ?? []);
      await until(async () => (await stored()).length === 300, { what: 'the first lines' });
      expect((await beat(['too much'])).status).to.equal(200);
      await limitTo(10);
      const isStored = async () => {
        await beat(['again']);
        return (await stored()).includes('again');
      };
      await until(isStored, { what: 'a later line', everyMs: 200 });
      await limitTo(1);
      expect(await stored()).to.not.include('too much');
    });

    it('is counted by about what its lines take on disk', async () => {
      const lines = Array.from({ length: 400 }, (_, n) => `${n} `.padEnd(60, String(Math.random()).slice(2)));
      const sizeOf = async () =>
        Number(
          (
            await test.db.raw(
              `SELECT sum(pg_total_relation_size(inhrelid)) AS bytes FROM pg_inherits
               WHERE inhparent = 'log_lines'::regclass`,
            )
          ).rows[0].bytes,
        );
      await limitTo(100);
      const before = await sizeOf();
      for (let n = 0; n < 30; n += 1) await delivered([{ pipelineId, lines }]);
      const perLine = ((await sizeOf()) - before) / (30 * lines.length);
      await limitTo(1);
      expect(perLine - 60).to.be.within(200, 400);
      expect(30 * lines.length * (60 + 300)).to.be.above(MIB);
      // The setting is read a moment after it is signalled.
      await until(async () => (await node.logs(much())).status === 429, { what: 'the refusal' });
    });
  });

  it('makes the day’s partition where it is missing', async () => {
    const { rows } = await test.db.raw(
      `SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
       WHERE i.inhparent = 'log_lines'::regclass`,
    );
    for (const { name } of rows) await test.db.raw('DROP TABLE ??', [name]);
    const all = await Promise.all([newNode(), newNode(), newNode()]);
    await Promise.all(all.map((one) => delivered([{ pipelineId, lines: ['first of the day'] }], one)));
    for (const one of all) expect(await stored(one)).to.deep.equal(['first of the day']);
  });

  it('shares statements among requests that wait', async () => {
    const all = await Promise.all(Array.from({ length: 20 }, newNode));
    const holder = await test.db.transaction();
    await holder.raw('LOCK TABLE log_lines IN EXCLUSIVE MODE');
    const watched = watchStatements();
    const statements = () => watched.seen.filter((sql) => sql.includes('INSERT INTO log_lines'));
    try {
      const first = delivered([{ pipelineId, lines: ['held'] }]);
      await until(() => statements().length === 1, { what: 'the first statement' });
      const rest = all.map((one) => delivered([{ pipelineId, lines: ['a', 'b'] }], one));
      const asked = Date.now();
      await until(() => Date.now() - asked > 200, { what: 'time to pass' });
      // On a busy machine the others may still be on their way. They are in before one that comes after them is answered.
      await send(`${test.url}/api/health`);
      expect(statements()).to.have.length(1);
      await holder.commit();
      await Promise.all([first, ...rest]);
    } finally {
      if (!holder.isCompleted()) await holder.rollback();
      watched.stop();
    }
    expect(statements().length).to.be.within(2, 4);
    for (const one of all) expect(await stored(one)).to.deep.equal(['a', 'b']);
  });

  it('tells pages at most once a second that there are new lines', async () => {
    const stream = await openStream(`${test.url}/api/events`, { cookie: teams.viewer.cookie });
    const told = () =>
      stream.events<{ topics: string[] }>('changed').filter(({ topics }) => topics.includes('logs')).length;
    try {
      const startedAt = Date.now();
      const write = async () => {
        await delivered([{ pipelineId, lines: ['a line'] }]);
        return told() >= 2;
      };
      await until(write, { what: 'the news', everyMs: 50 });
      const seconds = (Date.now() - startedAt) / 1_000;
      expect(told()).to.be.within(2, 2 + Math.ceil(seconds));
    } finally {
      stream.close();
    }
  });

  describe('beside heartbeats', () => {
    const beat = (lines: string[], more: Record<string, unknown> = {}, of = node) =>
      of.heartbeat(
        heartbeat({
          pipelines: [{ pipelineId, version: 1, status: 'RUNNING', recentLogs: lines }],
          ...more,
        }),
      );
    const rowOf = async (of = node) =>
      (await test.db('node_reports').where({ node_id: of.nodeId }).first('delivers_logs'))?.delivers_logs;

    it('leaves lines of heartbeats to those who deliver no other way', async () => {
      await beat(['ERROR: one', 'two']);
      await until(async () => (await stored()).length === 2, { what: 'the lines of the heartbeat' });
      expect((await pageOf()).map(({ line, level }) => [line, level])).to.deep.equal([
        ['two', 'ERROR'],
        ['ERROR: one', 'ERROR'],
      ]);
    });

    it('stores no line twice once a node has delivered, also where the controller reads it anew', async () => {
      await delivered([{ pipelineId, lines: ['one'] }]);
      await beat(['one']);
      await until(async () => (await rowOf()) === true, { what: 'it to be remembered' });
      await beat(['one']);
      await delivered([{ pipelineId, lines: ['two'] }]);
      const { bus } = test.controller.systemContext('test').services;
      await bus.publish(test.db, {
        type: 'node',
        nodeId: node.nodeId,
        environmentId: teams.ours.environmentId,
      });
      await beat(['one', 'two']);
      await delivered([{ pipelineId, lines: ['three'] }]);
      expect(await stored()).to.deep.equal(['one', 'two', 'three']);
    });

    it('remembers it of a node that has reported before', async () => {
      await beat([]);
      await until(async () => (await rowOf()) === false, { what: 'the first heartbeat' });
      await delivered([{ pipelineId, lines: ['one'] }]);
      expect(await rowOf()).to.equal(true);
      await beat(['one']);
      await until(async () => (await rowOf()) === true, { what: 'the next heartbeat' });
      expect(await stored()).to.deep.equal(['one']);
    });

    it('believes a heartbeat that says so before the first delivery', async () => {
      await beat(['one'], { deliversLogs: true });
      await delivered([{ pipelineId, lines: ['one'] }]);
      expect(await stored()).to.deep.equal(['one']);
    });
  });

  it('answers 503 while the database is away, and stores when it is back', async function () {
    this.timeout(30_000);
    await delivered([{ pipelineId, lines: ['before'] }]);
    const address = new URL(test.databaseUrl);
    const name = address.pathname.slice(1);
    address.pathname = '/postgres';
    const outside = new pg.Client({ connectionString: address.href });
    await outside.connect();
    try {
      await outside.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
      await outside.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [
        name,
      ]);
      const answer = await node.logs([{ pipelineId, lines: ['away'] }]);
      expect(answer.status, answer.text).to.equal(503);
      // By whichever came upon it first: who the node is may have to be read anew as well.
      expect(answer.json().error).to.match(/keep them and try again|database does not answer .* Try again/);
    } finally {
      await outside.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
      await outside.end();
    }
    await until(async () => (await node.logs([{ pipelineId, lines: ['back'] }])).status === 200, {
      what: 'lines to be taken again',
      timeoutMs: 10_000,
      everyMs: 200,
    });
    expect(await stored()).to.deep.equal(['before', 'back']);
  });
});
