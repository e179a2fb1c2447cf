/** pipeline.logs and fleet.nodeLogs: filters, pages, strangers, and what a page costs among 200,000 lines. */
import { expect } from 'chai';
import { dayOf } from '../../../controller/database/day-partitions.ts';
import { findLines, logDays, MAX_LINES_SCANNED, pageQuery } from '../../../controller/fleet/logs/store.ts';
import type { LogLevel, LogLine, LogPage } from '../../../schemas/api/fleet/logs.ts';
import { enrollNode } from '../../support/agents/agent-client.ts';
import { useController } from '../../support/harness/controller.ts';
import { until } from '../../support/harness/until.ts';
import { enrollmentToken } from '../../support/scenes/places.ts';
import { manifest, useTwoTeams } from '../../support/scenes/two-teams.ts';

const MINUTE_MS = 60_000;

describe('reading log lines', () => {
  const test = useController();
  const teams = useTwoTeams(test);
  let pipelineId: string;
  let otherPipelineId: string;
  let nodeId: string;
  let otherNodeId: string;
  const now = Date.now();

  interface Row {
    line: string;
    level?: LogLevel;
    node?: string;
    pipeline?: string;
    at?: number;
  }
  async function insert(rows: Row[]): Promise<void> {
    await test.db('log_lines').insert(
      rows.map(({ line, level = 'INFO', node = nodeId, pipeline = pipelineId, at = now }) => ({
        received_at: new Date(at),
        node_id: node,
        pipeline_id: pipeline,
        level,
        line,
      })),
    );
  }
  const ofPipeline = (more: Record<string, unknown> = {}) =>
    teams.viewer.query<LogPage>('pipeline.logs', { pipelineId, ...more });
  const ofNode = (more: Record<string, unknown> = {}) =>
    teams.viewer.query<LogPage>('fleet.nodeLogs', { nodeId, ...more });
  const texts = (page: LogPage) => page.lines.map(({ line }) => line);

  before(async function () {
    this.timeout(60_000);
    ({ pipelineId } = teams.ours);
    ({ nodeId } = teams.ours.node);
    const { environmentId } = teams.ours;
    await teams.git.commit({ 'ours/invoices.yaml': manifest('invoices') });
    await teams.git.push();
    const list = () => teams.root.query<{ id: string; name: string }[]>('pipeline.list', { environmentId });
    await until(async () => (await list()).length === 2, { what: 'invoices' });
    otherPipelineId = (await list()).find(({ name }) => name === 'invoices')?.id ?? '';
    const token = await enrollmentToken(teams.root, environmentId);
    ({ nodeId: otherNodeId } = await enrollNode(test.url, token, { hostname: 'ours-second' }));
    const partitions = async () =>
      (await test.db.raw("SELECT count(*) AS n FROM pg_inherits WHERE inhparent = 'log_lines'::regclass"))
        .rows[0].n;
    await until(async () => (await partitions()) === 3, { what: 'the partitions made at the start' });
    // Shortly after midnight some of these lines are of the day before.
    await logDays.ensure(test.db, [dayOf(now - 10 * MINUTE_MS)]);
    await insert([
      { line: 'oldest', at: now - 10 * MINUTE_MS },
      { line: 'a warning, 100%', level: 'WARN', at: now - 5 * MINUTE_MS },
      { line: 'Broken_pipe', level: 'ERROR', at: now - 4 * MINUTE_MS },
      { line: 'of the second node', node: otherNodeId, at: now - 3 * MINUTE_MS },
      { line: 'of invoices', pipeline: otherPipelineId, level: 'DEBUG', at: now - 2 * MINUTE_MS },
      { line: 'a back\\slash', level: 'TRACE', at: now - MINUTE_MS },
      { line: 'newest' },
    ]);
    await insert([
      {
        line: 'a stranger’s',
        pipeline: teams.theirs.pipelineId,
        node: teams.theirs.node.nodeId,
        level: 'ERROR',
      },
    ]);
  });

  it('of a pipeline begins with the newest, from all its nodes, with names', async () => {
    const page = await ofPipeline();
    expect(texts(page)).to.deep.equal([
      'newest',
      'a back\\slash',
      'of the second node',
      'Broken_pipe',
      'a warning, 100%',
      'oldest',
    ]);
    expect(page.nextCursor).to.equal(null);
    expect(page.lines[2]).to.include({
      pipelineName: 'orders',
      nodeId: otherNodeId,
      nodeName: 'ours-second',
    });
    expect(page.lines[0]?.seq).to.match(/^\d+$/);
  });

  it('of a node has all its pipelines', async () => {
    const page = await ofNode();
    expect(texts(page)).to.deep.equal([
      'newest',
      'a back\\slash',
      'of invoices',
      'Broken_pipe',
      'a warning, 100%',
      'oldest',
    ]);
    expect(page.lines[2]).to.include({ pipelineName: 'invoices', nodeName: 'ours-node' });
  });

  const FILTERS: [reason: string, more: () => Record<string, unknown>, lines: string[]][] = [
    ['one level', () => ({ levels: ['ERROR'] }), ['Broken_pipe']],
    ['two levels', () => ({ levels: ['WARN', 'ERROR'] }), ['Broken_pipe', 'a warning, 100%']],
    ['a node', () => ({ nodeId: otherNodeId }), ['of the second node']],
    [
      'a time',
      () => ({ since: new Date(now - 3.5 * MINUTE_MS) }),
      ['newest', 'a back\\slash', 'of the second node'],
    ],
    ['text in any case', () => ({ contains: 'BROKEN' }), ['Broken_pipe']],
    ['a per cent sign', () => ({ contains: '0%' }), ['a warning, 100%']],
    ['nothing but a per cent sign', () => ({ contains: '%' }), ['a warning, 100%']],
    ['an underscore', () => ({ contains: '_' }), ['Broken_pipe']],
    ['a backslash', () => ({ contains: '\\' }), ['a back\\slash']],
    ['quotes', () => ({ contains: "'; DROP" }), []],
    ['empty text', () => ({ contains: '', limit: 1 }), ['newest']],
    [
      'all at once',
      () => ({
        levels: ['ERROR', 'INFO'],
        nodeId,
        since: new Date(now - 7 * MINUTE_MS),
        contains: 'e',
        limit: 2,
      }),
      ['newest', 'Broken_pipe'],
    ],
  ];
  for (const [reason, more, lines] of FILTERS) {
    it(`is narrowed by ${reason}`, async () => {
      expect(texts(await ofPipeline(more()))).to.deep.equal(lines);
    });
  }

  it('of a node is narrowed by a pipeline', async () => {
    expect(texts(await ofNode({ pipelineId: otherPipelineId }))).to.deep.equal(['of invoices']);
  });

  it('goes on at the cursor, each line once, until it is null', async () => {
    const seen: LogLine[] = [];
    let cursor: string | undefined;
    for (let pages = 0; pages < 10; pages += 1) {
      const page: LogPage = await ofPipeline({ limit: 2, ...(cursor === undefined ? {} : { cursor }) });
      seen.push(...page.lines);
      if (page.nextCursor === null) break;
      cursor = page.nextCursor;
    }
    expect(seen.map(({ seq }) => seq)).to.deep.equal((await ofPipeline()).lines.map(({ seq }) => seq));
  });

  it('does not show a line as new that was stored before the page', async () => {
    const { lines } = await ofPipeline({ limit: 1 });
    await insert([{ line: 'came later', pipeline: otherPipelineId }]);
    const page = await ofPipeline({ cursor: lines[0]?.seq, limit: 1 });
    expect(texts(page)).to.deep.equal(['a back\\slash']);
  });

  describe('by strangers', () => {
    const codeOf = async (name: string, input: object) =>
      (await teams.stranger.call('query', name, input)).fault?.data.code;

    it('is NOT_FOUND where only the filter names what is not theirs', async () => {
      const mine = { pipelineId: teams.theirs.pipelineId, nodeId: teams.theirs.node.nodeId };
      expect(await codeOf('pipeline.logs', mine)).to.equal(undefined);
      expect(await codeOf('pipeline.logs', { ...mine, nodeId })).to.equal('NOT_FOUND');
      expect(await codeOf('fleet.nodeLogs', { ...mine, pipelineId })).to.equal('NOT_FOUND');
    });
  });

  const BAD: { reason: string; more: object }[] = [
    { reason: 'a cursor that is none', more: { cursor: '1; DROP TABLE' } },
    { reason: 'a cursor that no number holds', more: { cursor: '9999999999999999999' } },
    { reason: 'a level that is none', more: { levels: ['LOUD'] } },
    { reason: 'no level', more: { levels: [] } },
    { reason: 'a limit of 0', more: { limit: 0 } },
    { reason: 'a limit over 1,000', more: { limit: 1_001 } },
    { reason: 'a text without end', more: { contains: 'x'.repeat(201) } },
    { reason: 'a time that is none', more: { since: 'yesterday' } },
  ];
  for (const { reason, more } of BAD) {
    it(`answers 400 to ${reason}`, async () => {
      expect((await teams.viewer.call('query', 'pipeline.logs', { pipelineId, ...more })).status).to.equal(
        400,
      );
    });
  }

  describe('among 200,000 lines', () => {
    const PIPELINES = 4;
    before(async function () {
      this.timeout(60_000);
      // Two days, and one pipeline of four: what a planner likes to read whole.
      await test.db.raw(
        `INSERT INTO log_lines (received_at, node_id, pipeline_id, level, line)
         SELECT ?::timestamptz + (n / 100000) * interval '1 day' + n * interval '1 millisecond', 'many-node-' || n % 10,
           'many-pipeline-' || n % ${PIPELINES}, CASE WHEN n % 1000 = 0 THEN 'WARN' ELSE 'INFO' END,
           'line number ' || n || repeat(' and more', 10)
         FROM generate_series(0, 199999) AS n`,
        [new Date(Math.floor(now / 86_400_000) * 86_400_000)],
      );
      await test.db.raw('ANALYZE log_lines');
    });

    const MANY: { reason: string; more: Partial<Parameters<typeof pageQuery>[0]> }[] = [
      { reason: 'nothing', more: {} },
      { reason: 'a cursor', more: { cursor: '150000' } },
      { reason: 'a level that is rare', more: { levels: ['WARN'] } },
      { reason: 'a level that is never', more: { levels: ['TRACE'] } },
      { reason: 'a text that is nowhere', more: { contains: 'needle' } },
      { reason: 'a time', more: { since: new Date(now - MINUTE_MS) } },
      { reason: 'a node', more: { nodeId: 'many-node-1' } },
    ];
    for (const { reason, more } of MANY) {
      it(`a page narrowed by ${reason} is one statement and reads by index alone`, async () => {
        const filter = { pipelineId: 'many-pipeline-1', limit: 200, ...more };
        const { sql, values } = pageQuery(filter);
        const plan: string = await test.db.transaction(async (tx) => {
          await tx.raw('SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off');
          const { rows } = await tx.raw(`EXPLAIN ${sql}`, values);
          return rows.map((row: Record<string, string>) => row['QUERY PLAN']).join('\n');
        });
        expect(plan).not.to.match(/Seq Scan|Bitmap/);
        expect(plan).to.match(/Index Scan using log_lines_\d+_(pipeline|node)_id_seq_idx/);
        const asked: string[] = [];
        const note = ({ sql: text }: { sql: string }) => asked.push(text);
        test.db.client.on('query', note);
        await findLines(test.db, filter);
        test.db.client.off('query', note);
        expect(asked.filter((text) => text.includes('log_lines'))).to.have.length(1);
      });
    }

    it('finds the same in pages as in one statement', async () => {
      const seen: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await findLines(test.db, {
          pipelineId: 'many-pipeline-0',
          limit: 30,
          levels: ['WARN'],
          contains: '5',
          ...(cursor === undefined ? {} : { cursor }),
        });
        seen.push(...page.lines.map(({ seq }) => seq));
        cursor = page.nextCursor ?? undefined;
      } while (cursor !== undefined);
      const all = await test
        .db('log_lines')
        .where({ pipeline_id: 'many-pipeline-0', level: 'WARN' })
        .whereLike('line', '%5%')
        .orderBy('seq', 'desc')
        .pluck('seq');
      expect(seen).to.deep.equal(all.map(String));
      expect(seen.length).to.be.above(30);
    });

    it('stops after a bounded number of lines and tells where to go on', async () => {
      await test.db.raw(
        `INSERT INTO log_lines (received_at, node_id, pipeline_id, level, line)
         SELECT ?::timestamptz, 'n', 'long', CASE WHEN n = 1 THEN 'ERROR' ELSE 'INFO' END, 'x'
         FROM generate_series(1, ${MAX_LINES_SCANNED + 10}) AS n`,
        [new Date(now)],
      );
      const filter = { pipelineId: 'long', limit: 10, levels: ['ERROR' as const] };
      const first = await findLines(test.db, filter);
      expect(first.lines).to.deep.equal([]);
      expect(first.nextCursor).to.be.a('string');
      const second = await findLines(test.db, { ...filter, cursor: first.nextCursor ?? '' });
      expect(texts(second)).to.deep.equal(['x']);
      expect(second.nextCursor).to.equal(null);
    });
  });
});
