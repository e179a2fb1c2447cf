/** Webhooks, signed as each forge signs them, and what they do: wake the loops, once for each delivery. */
import { createHmac, randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { expect } from 'chai';
import { deleteOldDeliveries } from '../../../controller/delivery/bindings/index.ts';
import type { GitSyncStatus } from '../../../schemas/api/delivery/git-sync.ts';
import { send } from '../../support/clients/http.ts';
import { useController, useRoot } from '../../support/harness/controller.ts';
import { until } from '../../support/harness/until.ts';

interface Example {
  name: string;
  examples: object[];
}
const EXAMPLES = createRequire(import.meta.url)('@octokit/webhooks-examples') as Example[];

const SECRET = 'a-secret-of-the-tests';
const hmac = (body: string | Buffer, secret = SECRET) =>
  createHmac('sha256', secret).update(body).digest('hex');

type Sign = (body: string | Buffer, id: string, secret?: string) => Record<string, string>;
const FORGES: Record<string, { sign: Sign; repositoryUrl: string }> = {
  github: {
    repositoryUrl: 'https://github.com/acme/pipes.git',
    sign: (body, id, secret) => ({
      'x-github-event': 'push',
      'x-github-delivery': id,
      'x-hub-signature': 'sha1=0000',
      'x-hub-signature-256': `sha256=${hmac(body, secret)}`,
    }),
  },
  gitlab: {
    repositoryUrl: 'https://gitlab.com/acme/data/pipes.git',
    sign: (_body, id, secret = SECRET) => ({
      'x-gitlab-event': 'Merge Request Hook',
      'x-gitlab-event-uuid': id,
      'x-gitlab-webhook-uuid': 'one-for-all',
      'x-gitlab-token': secret,
    }),
  },
  gitea: {
    repositoryUrl: 'https://git.example.org/acme/pipes.git',
    sign: (body, id, secret) => ({
      'x-gitea-delivery': id,
      'x-gitea-signature': hmac(body, secret),
      'x-hub-signature-256': `sha256=${hmac(body, secret)}`,
    }),
  },
  bitbucket: {
    repositoryUrl: 'https://bitbucket.org/acme/pipes.git',
    sign: (body, id, secret) => ({
      'x-event-key': 'repo:push',
      'x-request-uuid': id,
      'x-hub-signature': `sha256=${hmac(body, secret)}`,
    }),
  },
  'bitbucket-data-center': {
    repositoryUrl: 'https://stash.example.org/scm/ACME/pipes.git',
    sign: (body, id, secret) => ({
      'x-event-key': 'repo:refs_changed',
      'x-request-id': id,
      'x-hub-signature': `sha256=${hmac(body, secret)}`,
    }),
  },
};

describe('a signed webhook', function () {
  this.timeout(30_000);
  const test = useController({ trustedProxies: ['127.0.0.1'] });
  const root = useRoot(test);
  let teamId: string;
  let made = 0;
  let addresses = 0;
  const woken: { loop: string; key: string }[] = [];
  before(async () => {
    ({ id: teamId } = await root.mutate<{ id: string }>('team.create', { name: 'T' }));
    const { bus } = test.controller.systemContext('test').services;
    bus.on('wake', ({ loop, key, trigger }) => {
      if (trigger === 'webhook') woken.push({ loop, key });
    });
  });
  beforeEach(() => {
    woken.length = 0;
  });

  async function bind(forge: string): Promise<{ hook: string; environmentId: string }> {
    made += 1;
    const { id: environmentId } = await root.mutate<{ id: string }>('environment.create', {
      ...{ name: `env-${made}`, teamId },
    });
    const { webhookUrl } = await root.mutate<GitSyncStatus>('gitSync.configure', {
      ...{
        environmentId,
        mode: 'off',
        repositoryUrl: FORGES[forge]?.repositoryUrl.replace('.git', `-${made}.git`),
      },
      forge: { name: forge, token: 'x', webhookSecret: SECRET },
    });
    return { hook: webhookUrl?.replace(test.controller.url, test.url) ?? '', environmentId };
  }
  /** Each from another address, so that none is too often. */
  const call = (hook: string, body: string | Buffer, headers: Record<string, string> = {}) => {
    addresses += 1;
    const from = `10.0.${addresses >> 8}.${addresses & 255}`;
    return send(hook, { method: 'POST', body, headers: { 'x-forwarded-for': from, ...headers } });
  };
  const wakes = (environmentId: string) => woken.filter(({ key }) => key === environmentId);
  const untilWoken = (environmentId: string, times: number) =>
    until(async () => wakes(environmentId).length >= 2 * times, {
      what: () => `${times} times woken: ${JSON.stringify(woken)}`,
      everyMs: 20,
    });

  for (const [name, { sign }] of Object.entries(FORGES)) {
    describe(`of ${name}`, () => {
      it('wakes the loops of git and of pull requests', async () => {
        const { hook, environmentId } = await bind(name);
        const body = '{"ref":"refs/heads/main"}';
        const answer = await call(hook, body, sign(body, randomUUID()));
        expect(answer.status, answer.text).to.equal(202);
        expect(answer.json()).to.deep.equal({ ok: true });
        await untilWoken(environmentId, 1);
        expect(wakes(environmentId).map(({ loop }) => loop)).to.deep.equal(['git', 'pull-requests']);
      });

      it('is refused without its signature, with another secret, and with another body', async () => {
        const { hook, environmentId } = await bind(name);
        const body = '{"a":1}';
        const good = sign(body, 'd-1');
        const refused: [string, string, Record<string, string>][] = [
          ['nothing', body, {}],
          ['another secret', body, sign(body, 'd-2', 'another-secret-of-ours')],
          ['nothing in it', body, Object.fromEntries(Object.keys(good).map((header) => [header, '']))],
          ['half of it', body, Object.fromEntries(Object.entries(good).map(([k, v]) => [k, v.slice(0, -3)]))],
          [
            'signed as another forge does',
            body,
            { 'x-signature': hmac(body), 'x-hub-signature-512': hmac(body) },
          ],
        ];
        // GitLab signs nothing: it sends the secret along.
        if (name !== 'gitlab') refused.push(['another body', '{"a":2}', good], ['more', `${body} `, good]);
        for (const [what, text, headers] of refused) {
          const answer = await call(hook, text, headers);
          expect(answer.status, what).to.equal(401);
          expect(answer.text, what).to.contain('not signed with the webhook secret').and.not.contain(SECRET);
        }
        expect((await call(hook, body, good)).status).to.equal(202);
        await untilWoken(environmentId, 1);
        expect(wakes(environmentId)).to.have.length(2);
      });

      it('does nothing again when it is sent again', async () => {
        const { hook, environmentId } = await bind(name);
        for (const id of ['d-1', 'd-1', 'd-1', 'd-2'])
          expect((await call(hook, '{}', sign('{}', id))).status).to.equal(202);
        await untilWoken(environmentId, 2);
        expect(wakes(environmentId)).to.have.length(4);
        const rows = await test
          .db('webhook_deliveries')
          .count({ count: '*' })
          .whereLike('delivery_id', 'd-_%');
        expect(Number((rows as { count: unknown }[])[0]?.count)).to.be.at.least(2);
      });
    });
  }

  it('is too large beyond 25 MiB, whatever its signature says, and known by its binding', async () => {
    const { hook } = await bind('github');
    const signed = (body: string | Buffer, id: string) => FORGES.github?.sign(body, id);
    const large = Buffer.alloc(25 * 1024 * 1024 + 1, 0x20);
    expect((await call(hook, large, signed(large, 'd-1'))).status).to.equal(413);
    const most = large.subarray(1);
    expect((await call(hook, most, signed(most, 'd-2'))).status).to.equal(202);
    expect((await call(`${hook}x`, '{}', signed('{}', 'd-3'))).status).to.equal(404);
  });

  it('wakes nobody for events that nobody looks at', async () => {
    const { hook, environmentId } = await bind('github');
    for (const event of ['star', 'ping', 'issues'])
      expect(
        (await call(hook, '{}', { ...FORGES.github?.sign('{}', event), 'x-github-event': event })).status,
      ).to.equal(202);
    expect((await call(hook, '{}', FORGES.github?.sign('{}', 'then-a-push'))).status).to.equal(202);
    await untilWoken(environmentId, 1);
    expect(wakes(environmentId)).to.have.length(2);
  });

  it('is limited after its signature: who signs nothing is, and a forge from the same address is not', async () => {
    const { hook } = await bind('github');
    const from = { 'x-forwarded-for': '198.51.100.7' };
    const signed = (id: string) =>
      send(hook, { method: 'POST', body: '{}', headers: { ...from, ...FORGES.github?.sign('{}', id) } });
    for (let calls = 0; calls < 70; calls += 1) expect((await signed(`many-${calls}`)).status).to.equal(202);
    const unsigned = () => send(hook, { method: 'POST', body: '{}', headers: from });
    let last = await unsigned();
    for (let calls = 0; calls < 60 && last.status !== 429; calls += 1) last = await unsigned();
    expect([last.status, Number(last.headers['retry-after']) > 0]).to.deep.equal([429, true]);
  });

  it('takes the examples that GitHub’s users have gathered, byte for byte', async () => {
    const { hook, environmentId } = await bind('github');
    const wanted = new Set([
      'push',
      'pull_request',
      'pull_request_review',
      'create',
      'delete',
      'ping',
      'check_suite',
    ]);
    const bodies = EXAMPLES.filter(({ name }) => wanted.has(name)).flatMap(({ name, examples }) =>
      examples.map((example) => ({ name, body: JSON.stringify(example, null, 2) })),
    );
    expect(bodies.length).to.be.greaterThan(20);
    for (const { name, body } of bodies) {
      const headers = { ...FORGES.github?.sign(body, randomUUID()), 'x-github-event': name };
      expect((await call(hook, body, headers)).status, name).to.equal(202);
      const changed = body.replace('"id"', '"iD"').replace('"ref"', '"reF"');
      if (changed !== body) expect((await call(hook, changed, headers)).status, name).to.equal(401);
    }
    await untilWoken(environmentId, 1);
  });

  it('needs no signature where the binding has no secret', async () => {
    const { hook, environmentId } = await bind('gitea');
    await root.mutate('gitSync.configure', {
      ...{ environmentId, mode: 'off', forge: { name: 'gitea', webhookSecret: null } },
    });
    expect((await call(hook, '\0 not json')).status).to.equal(202);
    expect((await call(hook, '\0 not json')).status).to.equal(202);
    await untilWoken(environmentId, 1);
  });

  it('wakes the environments of the repository that have the same secret, and nobody else’s', async () => {
    const one = await bind('gitea');
    const two = await bind('gitea');
    const { repositoryUrl } = await root.query<GitSyncStatus>('gitSync.status', {
      environmentId: one.environmentId,
    });
    const { id: beside } = await root.mutate<{ id: string }>('environment.create', {
      name: 'beside',
      teamId,
    });
    const forge = { name: 'gitea', token: 'x', webhookSecret: SECRET };
    await root.mutate('gitSync.configure', { environmentId: beside, mode: 'off', repositoryUrl, forge });
    expect((await call(one.hook, '{}', FORGES.gitea?.sign('{}', 'x'))).status).to.equal(202);
    await untilWoken(one.environmentId, 1);
    await untilWoken(beside, 1);
    expect(wakes(two.environmentId)).to.deep.equal([]);
    // Its own alone, where the other one has another secret, or none.
    for (const webhookSecret of ['another-secret-of-ours', null]) {
      await root.mutate('gitSync.configure', {
        ...{ environmentId: beside, mode: 'off', forge: { ...forge, webhookSecret } },
      });
      woken.length = 0;
      const id = `x-${webhookSecret}`;
      expect((await call(one.hook, '{}', FORGES.gitea?.sign('{}', id))).status).to.equal(202);
      await untilWoken(one.environmentId, 1);
      expect(wakes(beside), String(webhookSecret)).to.deep.equal([]);
    }
  });

  it('wakes its own environment alone where it needs no signature', async () => {
    const one = await bind('gitea');
    const { repositoryUrl } = await root.query<GitSyncStatus>('gitSync.status', {
      environmentId: one.environmentId,
    });
    const { id: beside } = await root.mutate<{ id: string }>('environment.create', {
      name: 'beside-without',
      teamId,
    });
    const { webhookUrl } = await root.mutate<GitSyncStatus>('gitSync.configure', {
      ...{ environmentId: beside, mode: 'off', repositoryUrl },
    });
    const hook = webhookUrl?.replace(test.controller.url, test.url) ?? '';
    expect((await call(hook, '{}')).status).to.equal(202);
    await untilWoken(beside, 1);
    expect(wakes(one.environmentId)).to.deep.equal([]);
  });

  it('is not let in while its secret cannot be opened', async () => {
    const { hook, environmentId } = await bind('gitea');
    const sealed = 'v1.00000000.AAAA.AAAA';
    await test
      .db('git_bindings')
      .where({ environment_id: environmentId })
      .update({ sealed_webhook_secret: sealed });
    const answer = await call(hook, '{}', FORGES.gitea?.sign('{}', 'x'));
    expect(answer.status).to.equal(503);
    expect(answer.text).to.contain('set the secret again');
  });

  it('is forgotten after three days', async () => {
    const { hook, environmentId } = await bind('gitea');
    for (const id of ['old', 'new']) await call(hook, '{}', FORGES.gitea?.sign('{}', id));
    const { id: bindingId } = await test
      .db('git_bindings')
      .where({ environment_id: environmentId })
      .first('id');
    const rows = () => test.db('webhook_deliveries').where({ binding_id: bindingId });
    await rows()
      .where({ delivery_id: 'old' })
      .update({ received_at: new Date(Date.now() - 73 * 3_600_000) });
    await deleteOldDeliveries(test.db);
    expect(await rows().pluck('delivery_id')).to.deep.equal(['new']);
  });
});
