/** Webhook endpoints that git describes: secrets are named and never written, and read when a message is sent. */
import { expect } from 'chai';
import { gitSyncOverrides } from '../../../controller/delivery/bindings/index.ts';
import { exampleNotice } from '../../../controller/insight/notifications/formats/example-notice.ts';
import {
  alertWebhookOperations,
  deliverDue,
  enqueueNotices,
} from '../../../controller/insight/notifications/index.ts';
import { insertSecret } from '../../../controller/secrets/stored/store.ts';
import { manualClock } from '../../../reconcilers/loops/clock.ts';
import { exportManifests } from '../../../reconcilers/write-back/index.ts';
import { idleManifest } from '../../support/fixtures/pipelines.ts';
import { pathOf, reportLines } from '../../support/scenes/bound-environment.ts';
import { useBoundEnvironment, useReconcileScene } from '../../support/scenes/reconcile.ts';
import { WebhookReceiver } from '../../support/servers/webhook-receiver.ts';

const endpoint = (name: string, spec: string, metadata = '') => `apiVersion: headgate/v1
kind: WebhookEndpoint
metadata: { name: ${name}${metadata} }
spec:
${spec
  .split('\n')
  .map((line) => `  ${line}`)
  .join('\n')}
`;
const PLAIN = 'url: https://alerts.example.com/in\nformat: standard';

describe('webhook endpoints in git', () => {
  const scene = useReconcileScene();
  const env = useBoundEnvironment(scene);
  const rows = () => scene.db('webhook_endpoints').where({ environment_id: env.id }).orderBy('name');
  const row = async (name: string) => {
    const found = (await rows()).find((one) => one.name === name);
    if (!found) throw new Error(`there is no endpoint ${name}`);
    return found;
  };
  const secret = (name: string, value: string) =>
    insertSecret(scene.db, scene.services.keyring, {
      ...{ id: `${env.id}-${name}`, environmentId: env.id, name, value },
      variable: `SVC_SECRET_${name.toUpperCase().replaceAll('-', '_')}`,
    });
  const system = (more: object = {}) =>
    scene.context(env.id, { actor: { type: 'system', name: 'test' }, ...more });

  it('are made, changed, renamed, deleted and restored', async () => {
    await secret('chat', 'https://hooks.example.com/T1/secret');
    const first = await env.apply({
      a: endpoint('receiver', `${PLAIN}\neventTypes: [cpu_usage]\nheaders: { X-Team: web }`, ', uid: W1'),
      b: endpoint('chat', 'urlRef: chat\nformat: slack\nenabled: false'),
    });
    expect(reportLines(first).slice(1)).to.deep.equal([
      '  + chat: created, webhook endpoint of the format slack, disabled',
      '  + receiver: created, webhook endpoint of the format standard',
      ...reportLines(first).slice(3),
    ]);
    const { id } = await row('receiver');
    expect(await row('receiver')).to.deep.include({
      ...{ managed_by: 'git', plain_url: 'https://alerts.example.com/in', url_ref: null, sealed_url: null },
      ...{ event_types: ['cpu_usage'], header_names: ['X-Team'], header_templates: { 'X-Team': 'web' } },
    });
    expect(await row('chat')).to.deep.include({ url_ref: 'chat', plain_url: null, enabled: false });
    expect((await env.pass()).outcome).to.equal('unchanged');
    await env.apply({ a: endpoint('inbox', PLAIN, ', uid: W1') });
    expect(await row('inbox')).to.deep.include({ id, event_types: [], header_templates: {} });
    await env.apply({ a: null, web: idleManifest('web') });
    expect((await row('inbox')).tombstoned_at).to.be.instanceOf(Date);
    const back = await env.apply({ a: endpoint('inbox', PLAIN, ', uid: W1') });
    expect(back.counts).to.include({ restored: 1 });
    expect(await row('inbox')).to.include({ id, enabled: true });
  });

  it('wait for a secret that is missing, say so, and are applied once it is there', async () => {
    await env.apply({ web: idleManifest('web'), a: endpoint('a', `${PLAIN}\nsecretRef: signing`) });
    expect(await rows()).to.deep.equal([]);
    expect(await env.condition('a', 'Validated')).to.include({ status: 'False' });
    expect(
      (await env.importErrors()).map(({ stage, line, message, hint }) => [stage, line, message, hint]),
    ).to.deep.equal([
      [
        ...['secrets', 7, '`secretRef` names the secret "signing", which this environment does not have'],
        'Create it in Secrets; the next pass applies this manifest.',
      ],
    ]);
    await secret('signing', 'whsec_c2VjcmV0LXNlY3JldC1zZWNyZXQ=');
    expect((await env.pass()).counts).to.include({ created: 1 });
    expect(await env.condition('a', 'Applied')).to.include({ status: 'True' });
  });

  const WRONG: [what: string, spec: string, stage: string, message: RegExp][] = [
    ['no address', 'format: standard', 'schema', /needs one of `url` and `urlRef`/],
    ['two addresses', `${PLAIN}\nurlRef: x`, 'schema', /needs one of `url` and `urlRef`/],
    [
      'the address of a chat',
      'url: https://hooks.slack.com/services/T/B/x\nformat: slack',
      'secrets',
      /is a secret; secrets do not belong in git/,
    ],
    [
      'credentials in an address',
      'url: https://me:hunter2@example.com\nformat: standard',
      'secrets',
      /holds a plain secret/,
    ],
    ['another scheme', 'url: ftp://example.com\nformat: standard', 'schema', /is no address/],
    [
      'a plain token',
      `${PLAIN}\nheaders: { Authorization: Bearer hunter2 }`,
      'secrets',
      /`headers.Authorization` holds a plain secret/,
    ],
    [
      'a placeholder of no secret',
      `${PLAIN}\nheaders: { X-Key: "\${SVC_SECRET_GONE}" }`,
      'secrets',
      /SVC_SECRET_GONE\} does not exist/,
    ],
    [
      'a header of the connection',
      `${PLAIN}\nheaders: { Host: example.com }`,
      'schema',
      /"Host" is set by Headgate/,
    ],
    [
      'no key of an incident service',
      'url: https://events.pagerduty.com/v2/enqueue\nformat: pagerduty',
      'schema',
      /the format pagerduty needs one/,
    ],
    ['an e-mail by https', 'url: https://example.com\nformat: email', 'schema', /needs a mailto: URL/],
    ['no e-mail address', 'url: "mailto:nobody"\nformat: email', 'schema', /is not an e-mail address/],
  ];
  it('are refused where something of them is wrong, and nothing of it is repeated', async () => {
    const files = WRONG.map(([, spec], n) => [`w${n}`, endpoint(`w${n}`, spec)] as const);
    const result = await env.apply({ ...Object.fromEntries(files), web: idleManifest('web') });
    expect(result.counts).to.include({ created: 1, refused: WRONG.length });
    const errors = await env.importErrors();
    for (const [n, [what, , stage, message]] of WRONG.entries()) {
      const error = errors.find(({ path }) => path === pathOf(`w${n}`));
      expect(error?.stage, what).to.equal(stage);
      expect(error?.message, what).to.match(message);
    }
    expect(JSON.stringify(errors)).not.to.include('hunter2');
    expect(await rows()).to.deep.equal([]);
  });

  it('sign with the secret of the environment as it is when a message is sent', async () => {
    const receiver = await WebhookReceiver.start();
    try {
      await secret('signing', 'the first secret');
      await secret('token', 'of-the-proxy');
      await secret('address', receiver.url);
      const text = endpoint(
        'a',
        `urlRef: address\nformat: standard\nsecretRef: signing\nheaders: { Authorization: "Bearer \${SVC_SECRET_TOKEN}" }\neventTypes: [cpu_usage]`,
      );
      await env.apply({ a: text });
      const clock = manualClock(Date.now());
      const { id } = await row('a');
      const send = async (eventId: string, metric: 'cpu_usage' | 'disk_usage') => {
        const at = new Date(clock.now());
        const example = exampleNotice({
          ...{ team: { id: 'team', name: 'team' }, environment: { id: env.id, name: 'e' } },
          ...{ eventId, at, message: 'busy' },
        });
        await scene.db.transaction((db) =>
          enqueueNotices({ ...system({ clock }), db }, [{ ...example, metric, ruleId: eventId }]),
        );
        clock.advance(15_000);
        await deliverDue(system({ clock }), id, { aside: (work) => work() });
      };
      await send('e1', 'cpu_usage');
      await send('e2', 'disk_usage');
      expect(
        receiver.taken.map(({ data }) => data.eventId),
        'of its metrics only',
      ).to.deep.equal(['e1']);
      const [message] = receiver.messages;
      expect(message?.headers.authorization).to.equal('Bearer of-the-proxy');
      expect(message?.headers['webhook-signature']).to.match(/^v1,/);
      await scene.db('secrets').where({ environment_id: env.id, name: 'signing' }).delete();
      await send('e3', 'cpu_usage');
      expect(receiver.taken).to.have.length(1);
      const last = await scene
        .db('notification_deliveries')
        .where({ endpoint_id: id })
        .orderBy('seq', 'desc')
        .first();
      expect(last).to.include({
        state: 'waiting',
        last_error:
          'the secret "signing" of the environment is missing: create it in Secrets, or name another one in git',
      });
      const queued = () => scene.db('notification_delivery_events').where({ event_id: 'e3' });
      expect(await queued()).to.have.length(1);
      await secret('signing', 'the first secret');
      await env.apply({ a: `${text}  enabled: false\n` });
      await env.apply({ a: text });
      expect(await queued(), 'what is still open is sent once it is enabled again').to.have.length(2);
      const listed = await scene.execute(alertWebhookOperations.listWebhooks, system(), {
        environmentId: env.id,
      });
      expect(listed[0]).to.deep.include({
        managedBy: 'git',
        name: 'a',
        hasSecret: true,
        url: 'in the secret address',
      });
    } finally {
      await receiver.close();
    }
  });

  it('leave those made by hand alone, take one over by name, and go back to the UI', async () => {
    const made = await scene.execute(alertWebhookOperations.createWebhook, system(), {
      ...{ environmentId: env.id, url: 'https://alerts.example.com/hand', hmacSecret: 'a secret of mine' },
    });
    expect(made).to.include({ name: null, managedBy: 'ui' });
    const name = `webhook ${made.id.toLowerCase()}`;
    await env.apply({ web: idleManifest('web'), a: endpoint(name, PLAIN) });
    expect(await env.condition(name, 'Applied')).to.include({ status: 'False', reason: 'Conflict' });
    await env.execute(gitSyncOverrides.adopt, { kind: 'WebhookEndpoint', name });
    await env.pass();
    expect(await row(name)).to.include({
      id: made.id,
      managed_by: 'git',
      sealed_url: null,
      sealed_secret: null,
    });
    const id = { id: made.id };
    const refusals = await Promise.allSettled([
      scene.execute(alertWebhookOperations.updateWebhook, system(), { ...id, enabled: false }),
      scene.execute(alertWebhookOperations.deleteWebhook, system(), id),
    ]);
    for (const refusal of refusals) {
      expect(refusal.status).to.equal('rejected');
      if (refusal.status === 'rejected') expect(String(refusal.reason)).to.include('is described in git');
    }
    const { files } = await exportManifests(system(), env.id, ['WebhookEndpoint']);
    expect(files[0]?.text).to.include('  url: https://alerts.example.com/in\n  format: standard\n');
    await env.setPolicy({ owns: ['Pipeline'] });
    await env.pass();
    expect(await row(name)).to.include({ id: made.id, managed_by: 'ui', tombstoned_at: null });
    // From here on the UI owns it, whole and encrypted.
    await scene.execute(alertWebhookOperations.updateWebhook, system(), { id: made.id, enabled: false });
    expect(await row(name)).to.include({ plain_url: null, enabled: false });
  });

  it('made by hand are exported with names of secrets, and git takes them over once these exist', async () => {
    const url = 'https://alerts.example.com/in?key=hunter2';
    const made = await scene.execute(alertWebhookOperations.createWebhook, system(), {
      ...{ environmentId: env.id, url, hmacSecret: 'hunter2-hunter2' },
      headers: { Authorization: 'Bearer hunter2' },
    });
    const id = made.id.toLowerCase();
    const { files, skipped } = await exportManifests(system(), env.id, ['WebhookEndpoint']);
    expect(skipped).to.deep.equal([]);
    const [, ...lines] = files[0]?.text.split('\n') ?? [];
    expect(
      lines.join('\n'),
    ).to.equal(`# Made by hand: its address and secrets are encrypted. Create these secrets of the environment before you commit this:
#   webhook-${id}-url: its address
#   webhook-${id}-secret: its signing secret
#   webhook-${id}-header-authorization: the value of its header Authorization

apiVersion: headgate/v1
kind: WebhookEndpoint
metadata:
  name: webhook ${id}
  uid: ${made.id}
spec:
  urlRef: webhook-${id}-url
  format: standard
  headers:
    Authorization: \${SVC_SECRET_WEBHOOK_${id.toUpperCase()}_HEADER_AUTHORIZATION}
  secretRef: webhook-${id}-secret
`);
    const text = files[0]?.text ?? '';
    await env.apply({ a: text, web: idleManifest('web') });
    expect(await env.importErrors()).to.have.length(3);
    for (const [part, value] of [
      ['url', url],
      ['secret', 'hunter2-hunter2'],
      ['header-authorization', 'Bearer hunter2'],
    ] as const)
      await secret(`webhook-${id}-${part}`, value);
    await env.pass();
    expect(await row(`webhook ${id}`)).to.include({ id: made.id, managed_by: 'git', sealed_url: null });
  });
});
