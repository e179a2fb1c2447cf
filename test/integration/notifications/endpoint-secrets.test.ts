/** Secrets of endpoints: how they sign, who sees them, and where they are never written. */
import { expect } from 'chai';
import type { WebhookEndpoint } from '../../../schemas/api/insight/notifications.ts';
import { useController } from '../../support/harness/controller.ts';
import { use } from '../../support/harness/use.ts';
import { useTwoTeams } from '../../support/scenes/two-teams.ts';
import { useEndpoints, useReceiver, verifyBody } from '../../support/scenes/webhook-endpoints.ts';
import { type ReceivedMessage, WebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import type { TestUser } from '../../support/users/person.ts';

describe('secrets of webhook endpoints', () => {
  const test = useController();
  const teams = useTwoTeams(test);
  const receiver = useReceiver();
  const unlisted = use(
    () => WebhookReceiver.start(),
    (one) => one.close(),
  );
  const { create, createWebhook, testOf, faultOf } = useEndpoints(test, teams, receiver);
  let admin: TestUser;
  let teamId: string;
  let environmentId: string;
  before(() => {
    admin = teams.admin;
    ({ teamId, environmentId } = teams.ours);
  });

  it('show a generated secret once, and a given one never', async () => {
    const { id, secret, hasSecret } = await create();
    expect(secret).to.match(/^whsec_/);
    expect(hasSecret).to.equal(true);
    const given = await create({ name: 'Given', secret: 'a text of the user' });
    expect(given.secret).to.equal(null);
    const listed = await admin.query<WebhookEndpoint[]>('webhookEndpoint.list', { teamId });
    expect(listed.map(({ name }) => name)).to.deep.equal(['Given', 'On call']);
    expect(JSON.stringify(listed)).to.not.include(secret).and.not.include('a text of the user');
    const [row] = await test.db('webhook_endpoints').where({ id });
    expect(JSON.stringify(row)).to.not.include(secret).and.not.include(receiver.url);
  });

  it('sign with the old and the new secret for a day after a rotation', async () => {
    const { id, secret: first } = await create();
    const rotated = await admin.mutate<{ secret: string; previousSecretUntil: string }>(
      'webhookEndpoint.rotateSecret',
      { id, teamId },
    );
    expect(Date.parse(rotated.previousSecretUntil) - Date.now()).to.be.closeTo(86_400_000, 60_000);
    await testOf(id);
    for (const secret of [first, rotated.secret]) verifyBody(secret, receiver.messages[0] as ReceivedMessage);
    // As if the day were over.
    await test
      .db('webhook_endpoints')
      .where({ id })
      .update({ previous_secret_until: new Date(Date.now() - 1) });
    await testOf(id);
    verifyBody(rotated.secret, receiver.messages[1] as ReceivedMessage);
    expect(() => verifyBody(first, receiver.messages[1] as ReceivedMessage)).to.throw(
      'No matching signature',
    );
    await admin.mutate('webhookEndpoint.update', { id, teamId, secret: 'one of the user' });
    await testOf(id);
    expect(receiver.messages[2]?.headers['webhook-signature']?.toString().split(' ')).to.have.length(2);
  });

  it('of an environment sign their own way, and take headers and a secret away again', async () => {
    const made = await createWebhook({ headers: { 'X-Key': 'canary-key' }, hmacSecret: 'canary-secret' });
    expect(made).to.include({ environmentId, name: null, hasSecret: true });
    expect(made.headerNames).to.deep.equal(['X-Key']);
    const { id } = made;
    await teams.editor.mutate('alert.testWebhook', { id });
    expect(receiver.messages[0]?.headers).to.include({ 'x-key': 'canary-key' });
    expect(receiver.messages[0]?.headers['x-svc-signature']).to.match(/^t=\d{10},v1=[0-9a-f]{64}$/);
    await teams.editor.mutate('alert.updateWebhook', { id, headers: null, hmacSecret: null });
    await teams.editor.mutate('alert.testWebhook', { id });
    expect(receiver.messages[1]?.headers).to.not.have.any.keys(
      'x-key',
      'x-svc-signature',
      'webhook-signature',
    );
    expect(receiver.messages[1]?.headers).to.include.keys('webhook-id', 'webhook-timestamp');
    const other = await teams.editor.call('mutation', 'webhookEndpoint.testDelivery', { id, teamId });
    expect(other.status, 'is none of the team').to.equal(404);
  });

  it('show viewers no address that is a secret', async () => {
    await create({ format: 'slack', url: `${receiver.url}/services/T0/B0/canary1a2B` });
    const read = async (user: TestUser) =>
      (await user.query<WebhookEndpoint[]>('webhookEndpoint.list', { teamId }))[0]?.url;
    expect(await read(admin)).to.equal(`${receiver.url}/services/T0/B0/canary1a2B`);
    for (const user of [teams.viewer, teams.editor])
      expect(await read(user)).to.equal(`http://127.0.0.1:${receiver.port}/…1a2B`);
  });

  it('write nothing secret to the log, to answers and to the audit log', async () => {
    const canaries = ['canary-of-secret', 'canary-of-header', 'canary-of-path', 'canary-of-key-1'];
    const [secret, header, path, key] = canaries;
    const answers: unknown[] = [];
    const { id } = await create({ secret, headers: { 'X-Key': header } });
    answers.push(await testOf(id));
    const slack = await create({ name: 'Slack', format: 'slack', url: `${receiver.url}/${path}` });
    receiver.react = () => ({ status: 307, headers: { location: `${unlisted.url}/${path}` } });
    answers.push(await testOf(slack.id));
    receiver.react = () => 'cut';
    answers.push(await testOf(slack.id));
    const pager = await create({ name: 'Pager', format: 'pagerduty', secret: key });
    answers.push(
      await testOf(pager.id),
      await faultOf('webhookEndpoint.create', { teamId, secret, name: header }),
    );
    answers.push(await teams.viewer.query('webhookEndpoint.list', { teamId }));
    const stored = JSON.stringify(await test.db('notification_deliveries').select());
    const audit = JSON.stringify(await test.db('audit_log').select());
    for (const canary of canaries)
      for (const [where, text] of [
        ['log', test.log()],
        ['answers', JSON.stringify(answers)],
        ['audit log', audit],
        ['deliveries', stored],
      ] as const)
        expect(text.includes(`${canary}`), `${canary} in the ${where}`).to.equal(false);
    expect(receiver.messages.at(-1)?.body, 'it was used').to.include(key);
    expect(audit).to.include('webhookEndpoint.tested');
  });
});
