/** A webhook endpoint that git describes and somebody changes: secrets stay references, by every policy. */
import { expect } from 'chai';
import type { WebhookEndpoint } from '../../../schemas/api/insight/notifications.ts';
import { git } from '../../support/clients/fast-import.ts';
import { useController } from '../../support/harness/controller.ts';
import { until } from '../../support/harness/until.ts';
import { useGitBinding } from '../../support/scenes/git-binding.ts';
import { refusal, useTestEnvironments } from '../../support/scenes/places.ts';

// biome-ignore lint/suspicious/noTemplateCurlyInString: a placeholder as it is written in a manifest
const TOKEN = '${SVC_SECRET_TOKEN}';
const endpoint = (name: string, spec: string) => `apiVersion: headgate/v1
kind: WebhookEndpoint
metadata: { name: ${name} } # of the shift
spec:
${spec}`;
const HOOK = endpoint(
  'hook',
  `  url:   https://127.0.0.1/in   # two blanks too many
  format: standard
  headers: { X-Team: web, Authorization: "Bearer ${TOKEN}" }
`,
);
const CHAT = endpoint('chat', '  urlRef: chat\n  format: slack\n');
const FILES = { 'alerts/hook.yaml': HOOK, 'alerts/chat.yaml': CHAT };

interface Became {
  committed: { sha: string; path: string; line: number };
  proposed: { number: number; branch: string };
}

describe('a webhook endpoint that git describes', () => {
  const test = useController();
  const places = useTestEnvironments(test);
  const place = useGitBinding(test, places, { 'README.md': 'Where alerts go.\n' });
  before(async () => {
    const { environmentId } = place;
    await place.editor.mutate('secret.create', { environmentId, name: 'token', value: 'of the proxy' });
    await place.editor.mutate('secret.create', {
      environmentId,
      name: 'chat',
      value: 'https://127.0.0.1/T1',
    });
    await place.apply(FILES);
  });
  const list = () =>
    place.editor.query<WebhookEndpoint[]>('alert.listWebhooks', { environmentId: place.environmentId });
  const find = async (name: string) => (await list()).find((one) => one.name === name);
  const idOf = (name: string) => place.idOf('webhook_endpoints', name);
  const update = async (name: string, change: object) =>
    place.editor.mutate<Became>('alert.updateWebhook', { id: await idOf(name), ...change });
  const refused = async (name: string, change: object) =>
    refusal(place.editor, 'mutation', 'alert.updateWebhook', { id: await idOf(name), ...change });
  const changed = (sha: string) =>
    git(place.gitdir, 'show', '--format=', '--unified=0', sha)
      .split('\n')
      .filter((line) => /^[-+](?![-+])/.test(line));

  it('is listed with its manifest, and is changed in git alone where nothing else is said', async () => {
    expect((await find('hook'))?.git).to.deep.include({ path: `${place.folder}/alerts/hook.yaml`, line: 1 });
    expect(await find('chat')).to.deep.include({ urlRef: 'chat', url: 'in the secret chat' });
    expect(await refused('hook', { enabled: false })).to.equal(
      `PRECONDITION_FAILED: The webhook endpoint "hook" is described in git (${place.folder}/alerts/hook.yaml:1); change it there and push, and it follows`,
    );
  });

  it('takes no secret into git, and nothing that git would not apply', async () => {
    await place.policy({ uiEdits: 'commit' });
    const before = place.head();
    expect(await refused('chat', { url: 'https://127.0.0.1/T2' })).to.equal(
      'PRECONDITION_FAILED: The address of "chat" is in the secret "chat", and git holds no values of secrets: change the value of that secret, or name another one in the manifest (urlRef)',
    );
    expect(await refused('hook', { hmacSecret: 'a secret of mine' })).to.equal(
      'PRECONDITION_FAILED: "hook" is described in git, which holds no values of secrets: create a secret in Secrets and name it in the manifest (secretRef)',
    );
    const WRONG: [change: object, message: RegExp][] = [
      [{ headers: { Authorization: 'Bearer hunter2' } }, /`headers.Authorization` holds a plain secret/],
      [{ headers: { 'X-Key': TOKEN.replace('TOKEN', 'GONE') } }, /SVC_SECRET_GONE\} does not exist/],
      [{ format: 'slack' }, /the address of the format slack is a secret/],
      [{ format: 'pagerduty' }, /the format pagerduty needs one/],
    ];
    for (const [change, message] of WRONG) {
      const answer = await refused('hook', change);
      expect(answer).to.match(
        /^PRECONDITION_FAILED: Nothing was written to git, for it would not be applied: /,
      );
      expect(answer).to.match(message);
      expect(answer).not.to.contain('hunter2');
    }
    expect(place.head()).to.equal(before);
  });

  it('is changed by a proposal', async () => {
    await place.policy({ uiEdits: 'propose' });
    const { proposed } = await update('chat', { enabled: false });
    expect(proposed.branch).to.match(/^headgate\/webhook-endpoint\/chat-[0-9a-z]{8}$/);
    expect(place.read('alerts/chat.yaml', proposed.branch)).to.equal(`${CHAT}  enabled: false`);
    expect(await find('chat')).to.include({ enabled: true });
  });

  it('is changed by commits of what was meant, and deleted by one', async () => {
    await place.policy({ uiEdits: 'commit' });
    const { committed } = await update('hook', { url: 'https://127.0.0.1/inbox', enabled: false });
    expect(changed(committed.sha)).to.deep.equal([
      '-  url:   https://127.0.0.1/in   # two blanks too many',
      '+  url:   https://127.0.0.1/inbox   # two blanks too many',
      '+  enabled: false',
    ]);
    expect(git(place.gitdir, 'log', '-1', '--format=%B')).to.equal(
      'Change url, enabled of the webhook endpoint hook\n\nHeadgate-Operation: alert.updateWebhook',
    );
    await place.applied(committed.sha);
    expect(await find('hook')).to.deep.include({ url: 'https://127.0.0.1/inbox', enabled: false });

    const headers = { 'X-Team': 'apps', 'X-Key': `key ${TOKEN}` };
    const second = (await update('hook', { headers })).committed;
    const [, ...added] = changed(second.sha);
    expect(added.join('\n')).to.contain(`key ${TOKEN}`).and.not.contain('Bearer');
    await place.applied(second.sha);
    expect((await find('hook'))?.headerNames.sort()).to.deep.equal(['X-Key', 'X-Team']);

    const id = await idOf('chat');
    const { committed: gone } = await place.editor.mutate<Became>('alert.deleteWebhook', { id });
    expect(git(place.gitdir, 'log', '-1', '--format=%s')).to.equal('Delete the webhook endpoint chat');
    await place.applied(gone.sha);
    await until(async () => (await find('chat')) === undefined, { what: 'it to be pruned' });
  });

  it('keeps the secrets that it names from being deleted', async () => {
    const { environmentId } = place;
    await place.apply({ 'alerts/chat.yaml': CHAT });
    const secrets = await place.editor.query<{ id: string; name: string; usedByEndpoints: string[] }[]>(
      'secret.list',
      { environmentId },
    );
    expect(secrets.map(({ name, usedByEndpoints }) => [name, usedByEndpoints])).to.deep.equal([
      ['chat', ['chat']],
      ['token', ['hook']],
    ]);
    const [chat] = secrets;
    expect(
      await refusal(place.editor, 'mutation', 'secret.delete', { environmentId, id: chat?.id }),
    ).to.equal(
      'PRECONDITION_FAILED: SVC_SECRET_CHAT is used by webhook endpoints: chat. Name another secret in their manifests first, or replace the value',
    );
    await place.apply({ 'alerts/chat.yaml': null });
    await place.editor.mutate('secret.delete', { environmentId, id: chat?.id });
  });
});
