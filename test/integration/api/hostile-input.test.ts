/** Fields that nobody asked for, names that every object has, and texts that mean something to what reads them next. */
import { expect } from 'chai';
import { sampleOf } from '../../../api/openapi/samples.ts';
import { checkInput } from '../../../controller/platform/operation/check-input.ts';
import { DomainError } from '../../../controller/platform/operation/errors.ts';
import { makeApiSurfaces } from '../../support/clients/api-surfaces.ts';
import { send } from '../../support/clients/http.ts';
import { draftPipeline } from '../../support/clients/rest.ts';
import { useController } from '../../support/harness/controller.ts';
import { patient } from '../../support/harness/patience.ts';
import { use } from '../../support/harness/use.ts';
import { OPERATIONS } from '../../support/procedures/operations.ts';
import { PROCEDURE_KINDS } from '../../support/procedures/procedures.ts';

/** What a record holds that its owner may not set. */
const OVERREACH: Record<string, unknown> = {
  role: 'ADMIN',
  isSuperAdmin: true,
  is_super_admin: true,
  teamId: '01ARZ3NDEKTSV4RRFFQ69G5FAV',
  userId: '01ARZ3NDEKTSV4RRFFQ69G5FAV',
  createdAt: '2020-01-01T00:00:00.000Z',
  createdById: '01ARZ3NDEKTSV4RRFFQ69G5FAV',
  passwordHash: 'x',
  permissions: ['secrets.manage'],
  requiredAction: null,
  constructor: { prototype: { polluted: true } },
  prototype: { polluted: true },
};
const PREFIXES = [
  ...['/', '/api/', '/api/v1/', '/api/trpc/', '/git/', '/schemas/v1/', '/agent/releases/1/', '/e/'],
  '/api/scim/v2/Users/',
];
/** Headers by where they are read: those that are read for every request at one address alone. */
const READ: Readonly<Record<string, readonly string[]>> = {
  '/': ['accept', 'accept-encoding', 'accept-language', 'host', 'if-none-match', 'user-agent'],
  '/api/auth/session': [
    ...['content-type', 'cookie', 'forwarded', 'origin', 'referer', 'sec-fetch-site', 'x-forwarded-for'],
  ],
  '/api/auth/oidc/login': ['accept', 'referer', 'sec-fetch-site', 'user-agent'],
  '/api/trpc/user.me': ['authorization', 'content-type', 'cookie', 'origin', 'sec-fetch-site'],
  '/api/v1/pipelines': ['authorization', 'content-type', 'idempotency-key', 'if-match', 'if-none-match'],
  '/api/v1/openapi.json': ['if-none-match', 'origin'],
  '/api/scim/v2/Users': ['authorization', 'content-type'],
  '/api/agent/config': ['authorization', 'if-none-match'],
  '/agent/install.sh': ['if-none-match', 'if-range', 'range'],
  '/git/config.git/info/refs': ['authorization', 'content-type', 'git-protocol'],
  '/mcp': ['authorization', 'origin'],
};
/** Written out: in an object literal it would be the prototype itself. */
const PROTO = '"__proto__":{"polluted":true,"isSuperAdmin":true,"role":"ADMIN"}';

const fieldsOf = (name: string): Record<string, unknown> => {
  const schema = OPERATIONS.get(name)?.input;
  return schema && 'properties' in schema ? (schema.properties as Record<string, unknown>) : {};
};

describe('the controller', () => {
  const test = useController();
  const doors = use(
    () => makeApiSurfaces(test),
    ({ teams }) => teams.git.remove(),
  );

  describe('what nobody asked for', function () {
    this.timeout(120_000);
    /** In the form of each procedure: none is let in, so what they name needs not be there. */
    const inputs = new Map(
      [...PROCEDURE_KINDS.keys()].map((name) => [
        name,
        sampleOf(OPERATIONS.get(name)?.input ?? {}) as object,
      ]),
    );

    const standing = async () => ({
      users: await test.db('users').select('id', 'is_super_admin', 'password_hash').orderBy('id'),
      members: await test.db('team_members').select('*').orderBy(['team_id', 'user_id']),
      changes: await test.db('audit_log').where({ actor_type: 'user' }).count('* as n'),
    });
    const call = (name: string, text: string) => {
      const headers = { cookie: doors.teams.root.cookie, 'content-type': 'application/json' };
      return PROCEDURE_KINDS.get(name) === 'query'
        ? send(`${test.url}/api/trpc/${name}?input=${encodeURIComponent(text)}`, { headers })
        : send(`${test.url}/api/trpc/${name}`, { method: 'POST', headers, body: text });
    };

    /** As a call is refused: each begins with this check, and requests to some of the procedures show that. */
    const refusalOf = (name: string, text: string): string => {
      try {
        checkInput(OPERATIONS.get(name)!, JSON.parse(text));
      } catch (error) {
        return error instanceof DomainError && error.code === 'BAD_REQUEST'
          ? error.message + JSON.stringify(error.details)
          : String(error);
      }
      throw new Error(`${name} takes ${text}`);
    };

    it('is refused by every procedure, by its name', async () => {
      const before = await standing();
      for (const [index, [name, input]] of [...inputs].entries()) {
        const more = Object.entries(OVERREACH).filter(([field]) => !Object.hasOwn(fieldsOf(name), field));
        const text = JSON.stringify({ ...input, ...Object.fromEntries(more) });
        const refusals = [refusalOf(name, text)];
        if (index % 20 === 0) {
          const answer = await call(name, `{"json":${text}}`);
          expect(answer.status, name).to.be.oneOf([400, 431]);
          if (answer.status === 400) refusals.push(answer.text);
        }
        for (const refusal of refusals) for (const [field] of more) expect(refusal, name).to.include(field);
      }
      expect(await standing()).to.deep.equal(before);
    });

    it('changes no prototype, in the input, in any object of it, and in its notes', async () => {
      const before = await standing();
      for (const [index, [name, input]] of [...inputs].entries()) {
        // One wrong field more, so that nothing is done; what reads the input has read all of it by then.
        const text = JSON.stringify({ ...input, surprise: {} });
        for (const json of [text.replaceAll('{}', `{${PROTO}}`), text.replaceAll('{"', `{${PROTO},"`)]) {
          expect(refusalOf(name, json)).to.include('__proto__');
          if (index % 20 === 0)
            expect((await call(name, `{"json":${json}}`)).status, name).to.be.oneOf([400, 431]);
        }
        // Notes are read for all procedures by the same code, before it is known which one it is.
        if (index % 40 > 0) continue;
        for (const meta of [
          '{"values":{"__proto__.polluted":["Date"]}}',
          '{"values":{"constructor.prototype.polluted":["Date"]}}',
          '{"values":["Date"],"referentialEqualities":{"__proto__":["polluted"]}}',
          `{"values":{${PROTO}}}`,
        ]) {
          const answer = await call(name, `{"json":{"surprise":1},"meta":${meta}}`);
          expect(answer.status, `${name} ${meta}`).to.equal(400);
        }
      }
      expect(({} as { polluted?: unknown }).polluted).to.equal(undefined);
      expect(({} as { isSuperAdmin?: unknown }).isSuperAdmin).to.equal(undefined);
      const me = await call('user.me', `{"json":{${PROTO}}}`);
      expect(me.status).to.equal(200);
      expect(await standing()).to.deep.equal(before);
    });

    it('is refused through REST, and leaves no prototype changed there', async () => {
      const { environmentId } = doors.teams.theirs;
      const headers = { ...doors.key, 'content-type': 'application/json' };
      for (const more of [
        `"environmentId":"${environmentId}"`,
        '"role":"ADMIN"',
        '"managedBy":"git"',
        '"constructor":{"prototype":{"polluted":true}}',
        PROTO,
      ])
        for (const path of ['/api/v1/secrets', '/api/v1/pipelines', '/api/v1/alerts/rules']) {
          const answer = await send(`${test.url}${path}`, {
            method: 'POST',
            headers,
            body: `{"name":"overreach",${more},"value":"x"}`,
          });
          expect(answer.status, `${path} ${more}: ${answer.text}`).to.be.oneOf([400, 404, 405]);
        }
      expect(({} as { polluted?: unknown }).polluted).to.equal(undefined);
    });

    it('is not reached by the names of members of every object', async () => {
      const { cookie } = doors.teams.root;
      for (const name of [
        '__proto__',
        'constructor',
        'toString',
        'user.constructor',
        '__proto__.get',
        'user.__proto__',
      ])
        expect((await send(`${test.url}/api/trpc/${name}`, { headers: { cookie } })).status, name).to.equal(
          404,
        );
      for (const path of [
        '/schemas/v1/__proto__',
        '/api/v1/__proto__',
        '/agent/releases/__proto__/constructor',
      ])
        expect((await send(`${test.url}${path}`, { headers: doors.key })).status, path).to.equal(404);
      const { call: ask } = doors.teams.root;
      for (const key of ['__proto__', 'constructor', 'hasOwnProperty']) {
        const { status } = await ask('mutation', 'userPreference.set', { key, value: 'x' });
        expect(status, key).to.be.oneOf([200, 400]);
        expect((await ask('query', 'userPreference.get')).status, key).to.equal(200);
      }
    });

    /** Each ends a quotation of something: SQL, a shell, a pattern, a path, a template, a line, a table. */
    const TEXTS = [
      `'; DROP TABLE users; --`,
      `" OR "1"="1`,
      `\\'; SELECT pg_sleep(10); --`,
      '%',
      '_',
      '\\',
      '$(touch /tmp/owned)`id`',
      '../../../etc/passwd',
      `\${7*7}{{7*7}}<%= 7*7 %>`,
      '=HYPERLINK("http://elsewhere.example")',
      '-1+1|cmd',
      '<script>alert(1)</script>',
      '\u202egnp.exe',
      '?, :name, ??',
    ];

    it('is kept as it was given, whatever it would mean elsewhere', async () => {
      const { root, ours } = doors.teams;
      for (const [n, text] of TEXTS.entries()) {
        const made = await root.call<{ id: string; name: string }>('mutation', 'team.create', {
          name: `${n} ${text}`,
        });
        expect(made.status, text).to.be.oneOf([200, 400]);
        if (made.status !== 200) continue;
        const teams = await root.query<{ id: string; name: string }[]>('team.list');
        expect(teams.find(({ id }) => id === made.output?.id)?.name, text).to.equal(`${n} ${text}`.trim());
      }
      const pipelineId = await draftPipeline(root, ours.environmentId, 'quoted');
      for (const text of TEXTS) {
        await root.mutate('pipeline.update', { id: pipelineId, description: text });
        const { description } = await root.query<{ description: string }>('pipeline.get', { id: pipelineId });
        expect(description).to.equal(text);
      }
      expect(Number((await test.db('users').count('* as n').first())?.n)).to.be.greaterThan(1);
    });

    it('finds nothing but itself where it is looked for', async () => {
      const { root, ours } = doors.teams;
      const found = async (contains: string) => {
        const { lines } = await root.query<{ lines: { line: string }[] }>('fleet.nodeLogs', {
          nodeId: ours.node.nodeId,
          contains,
        });
        return lines.map(({ line }) => line);
      };
      const lines = ['100% of it', 'a_b', 'axb', 'C:\\temp'];
      const told = await ours.node.logs([
        {
          pipelineId: ours.pipelineId,
          lines: lines.map((message) => ({ timestamp: new Date().toISOString(), level: 'INFO', message })),
        },
      ]);
      expect(told.status, told.text).to.equal(200);
      expect(await found('%')).to.have.length.at.most(1);
      expect((await found('a_b')).some((line) => line.includes('axb'))).to.equal(false);
      for (const text of TEXTS)
        expect((await root.call('query', 'audit.list', { search: text })).status, text).to.equal(200);
    });

    it('forges no line of the log and no row of the audit log', async () => {
      const forged = 'x\n{"level":50,"msg":"forged by a stranger"}\r\n2026-01-01 forged';
      const headers = {
        'user-agent': 'forged agent',
        'x-request-id': 'forged-id',
        'content-type': 'application/json',
      };
      await send(`${test.url}/api/auth/sign-in`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ email: `${forged}@example.org`, password: forged }),
      });
      await send(`${test.url}/api/nothing/${encodeURIComponent(forged)}`, { headers });
      await doors.teams.root.call('mutation', 'team.create', { name: forged });
      await doors.teams.ours.node.heartbeat({ agentVersion: forged });
      for (const line of test.log().trim().split('\n')) {
        const read = JSON.parse(line) as { msg?: string; requestId?: string };
        expect(read.msg).not.to.include('forged by');
        expect(read.requestId).not.to.equal('forged-id');
      }
      const rows = await test.db('audit_log').select('*');
      for (const row of rows) expect(String(row.action)).to.match(/^[a-zA-Z]+\.[a-zA-Z]+$/);
    });
  });

  describe('what it tells of its faults', function () {
    this.timeout(60_000);
    const REVEALING =
      /node_modules|\.ts:\d|at (async )?\w+ \(|file:\/\/|\/tmp\/|select .* from|violates|duplicate key|pg_|ECONN|koa|knex|postgres/i;

    it('is no stack, path, statement or version, at any door', async () => {
      for (const row of doors.rows.filter(({ status }) => status >= 400)) {
        const answer = await doors.send(row);
        expect(answer.text, row.what).not.to.match(REVEALING);
        expect(JSON.stringify(answer.headers), row.what).not.to.match(/node\.js|express|koa/i);
      }
    });

    /** Long, and of what makes a badly written expression go back and forth. */
    const LONG = ['/a.a', 'a.aa', ',a;q=0.', '=,', ' ', '%25', '-', 'a:', ';a="', '\\'].map((part) =>
      part.repeat(Math.floor(6_000 / part.length)),
    );

    it('keeps it from nothing else: no address and no header takes it long', async () => {
      const slow: string[] = [];
      const timed = async (what: string, path: string, headers = {}) => {
        const began = performance.now();
        await send(`${test.url}${path}`, { headers });
        if (performance.now() - began > patient(1_000)) slow.push(what);
      };
      for (const text of LONG) {
        const address = encodeURI(text).replaceAll('%2525', '%25');
        for (const path of PREFIXES)
          await timed(`${path}${text.slice(0, 20)}`, `${path}${address.replace(/^\//, '')}!`);
        await timed(`?${text.slice(0, 20)}`, `/api/auth/session?${address}!`);
        for (const [path, names] of Object.entries(READ))
          for (const name of names) await timed(`${name} of ${path}`, path, { [name]: `${text}!` });
      }
      expect(slow).to.deep.equal([]);
    });
  });
});
