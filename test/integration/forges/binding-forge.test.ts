/** The forge of a binding, over the API: given, derived, kept, checked, and its secrets shown to nobody. */
import { generateKeyPairSync } from 'node:crypto';
import { expect } from 'chai';
import {
  openForgeToken,
  openWebhookSecret,
  sealForgeToken,
} from '../../../controller/delivery/bindings/forge/forge-secrets.ts';
import { findBinding, setForgeError } from '../../../controller/delivery/bindings/index.ts';
import { openCredentials } from '../../../controller/delivery/repository/index.ts';
import { resealAll } from '../../../controller/platform/crypto/key-rotation.ts';
import { createKeyring } from '../../../controller/platform/crypto/keyring.ts';
import type { CheckedForge } from '../../../schemas/api/delivery/forges.ts';
import type { GitSyncStatus } from '../../../schemas/api/delivery/git-sync.ts';
import { AUTHORITY, LEAF_KEY } from '../../support/fixtures/certificates.ts';
import { useController } from '../../support/harness/controller.ts';
import { refusal, useTestEnvironments } from '../../support/scenes/places.ts';
import { everythingStored, writtenForms } from '../../support/scenes/stored-secrets.ts';
import { type ForgeServer, GiteaServer, GitHubServer } from '../../support/servers/forges/index.ts';

const KEY = 'a key of the tests, which is long enough';
const TOKEN = 'canary/T0ken+of%a-forge';
const SECRET = 'canary-Webh00k+secret/1';
const REMOTE = 'https://git.example.org/acme/pipes.git';

describe('the forge of a binding', function () {
  this.timeout(30_000);
  const test = useController({ secretKey: KEY });
  const places = useTestEnvironments(test);
  let server: ForgeServer;
  let environments = 0;
  let environmentId: string;
  before(async () => {
    server = await new GiteaServer().listen();
  });
  after(async () => {
    await server?.stop();
  });
  beforeEach(async () => {
    environments += 1;
    const { teamId, root } = places;
    const made = { teamId, name: `env-${environments}` };
    environmentId = (await root.mutate<{ id: string }>('environment.create', made)).id;
  });

  const configure = (input: object) =>
    places.root.mutate<GitSyncStatus>('gitSync.configure', { environmentId, mode: 'off', ...input });
  const refused = (input: object) =>
    refusal(places.root, 'mutation', 'gitSync.configure', { environmentId, mode: 'off', ...input });
  const check = () => places.root.mutate<CheckedForge>('gitSync.checkForge', { environmentId });
  const status = () => places.root.query<GitSyncStatus>('gitSync.status', { environmentId });
  const binding = async () => {
    const found = await findBinding(test.db, environmentId);
    if (!found) throw new Error('it is not bound');
    return found;
  };
  it('says what its pull requests are like, part by part, and what it was before in the audit log', async () => {
    const github = { name: 'github', token: TOKEN };
    const { pullRequests } = await configure({ repositoryUrl: REMOTE, forge: github });
    expect(pullRequests).to.deep.equal({
      ...{ deleteBranches: true, draft: false, labels: [], reviewers: [], assignees: [] },
      ...{ title: null, body: null },
    });
    await configure({ pullRequests: { labels: ['gitops'], reviewers: ['acme/data'], draft: true } });
    await configure({ pullRequests: { title: '[{{environment}}] {{title}}', deleteBranches: false } });
    expect((await status()).pullRequests).to.deep.include({
      ...{ labels: ['gitops'], reviewers: ['acme/data'], draft: true, deleteBranches: false },
      title: '[{{environment}}] {{title}}',
    });
    const [row] = await test
      .db('audit_log')
      .where({ environment_id: environmentId })
      .orderBy('created_at', 'desc')
      .limit(1)
      .select('diff');
    expect(JSON.stringify(row)).to.include('pullRequests.title').and.include('pullRequests.deleteBranches');
  });

  it('refuses templates and parts that lead to nothing, and drops those of a forge that has them not', async () => {
    await configure({ repositoryUrl: REMOTE, forge: { name: 'github', token: TOKEN } });
    expect(await refused({ pullRequests: { title: '{{ticket}}' } })).to.equal(
      'BAD_REQUEST: pullRequests.title: {{ticket}} is not known; write one of {{title}}, {{kind}}, {{name}}, {{environment}}, {{author}}',
    );
    expect(await refused({ pullRequests: { title: 'a\nb' } })).to.match(/has a line break/);
    expect(await refused({ pullRequests: { labels: Array(21).fill('x') } })).to.match(/^BAD_REQUEST/);
    await configure({ pullRequests: { labels: ['gitops'] } });
    await configure({ forge: { name: 'bitbucket', token: TOKEN, url: 'https://api.bitbucket.org/2.0' } });
    expect((await status()).pullRequests).to.deep.include({ labels: [] });
    expect(await refused({ pullRequests: { labels: ['x'] } })).to.equal(
      'BAD_REQUEST: pullRequests.labels: pull requests of bitbucket have none; give an empty list',
    );
  });

  it('goes by a GitHub App, for its forge and for git, whose key is shown to nobody', async () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
    const key = privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();
    const at = { repositoryUrl: 'https://github.com/acme/pipes.git' };
    const app = { id: 'Iv23abc', privateKey: key };
    expect(await refused({ ...at, credentials: { type: 'app' } })).to.match(
      /BAD_REQUEST.*give forge\.app as well/,
    );
    expect(await refused({ ...at, forge: { name: 'gitea', app } })).to.match(
      /forge\.app works with GitHub only/,
    );
    expect(await refused({ ...at, forge: { name: 'github', app, token: 'x' } })).to.match(/give one of them/);
    const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({
      type: 'sec1',
      format: 'pem',
    });
    for (const wrong of ['no key', String(ec)])
      expect(
        await refused({ ...at, forge: { name: 'github', app: { ...app, privateKey: wrong } } }),
      ).to.match(/privateKey is not an RSA key/);
    const shown = await configure({ ...at, forge: { name: 'github', app }, credentials: { type: 'app' } });
    expect(shown.forge).to.deep.include({ name: 'github', hasToken: true, appId: 'Iv23abc' });
    expect(shown.credentials).to.deep.equal({ type: 'app', username: null, publicKey: null });
    const { keyring } = test.controller.systemContext('test').services;
    const first = await binding();
    expect(openCredentials(keyring, first)).to.deep.equal({
      ...{ type: 'app', ...app, privateKey: key.trim() },
      ...{ url: 'https://api.github.com', project: 'acme/pipes' },
    });
    await configure({ intervalSeconds: 90 });
    expect((await binding()).sealedCredentials, 'as it was').to.equal(first.sealedCredentials);
    await configure({ forge: { name: 'github', app: { ...app, id: '4711' } } });
    expect(openCredentials(keyring, await binding())).to.deep.include({ type: 'app', id: '4711' });
    expect(await refused({ forge: { name: 'github', token: 'ghp_plain' } })).to.match(
      /give forge\.app as well/,
    );
    const plain = await configure({
      forge: { name: 'github', token: 'ghp_plain' },
      credentials: { type: 'none' },
    });
    expect([plain.forge?.appId, plain.credentials?.type]).to.deep.equal([null, 'none']);
    const kept = JSON.stringify([shown, plain, await everythingStored(test)]);
    expect(kept).not.to.contain(key.split('\n')[3]);
  });

  const here = () => ({
    repositoryUrl: `${server.origin}/acme/pipes.git`,
    forge: { name: 'gitea', token: server.token },
  });

  it('is found by the address of the repository, and shown without its secrets', async () => {
    const { forge, review } = await configure({
      repositoryUrl: REMOTE,
      forge: { name: 'gitea', token: TOKEN, webhookSecret: SECRET },
    });
    expect(forge).to.deep.equal({
      name: 'gitea',
      url: 'https://git.example.org/api/v1',
      project: 'acme/pipes',
      hasToken: true,
      appId: null,
      hasWebhookSecret: true,
      error: null,
    });
    expect(review).to.equal(null);
    expect((await configure({ forge: { name: 'none' } })).forge).to.deep.include({
      ...{ name: 'none', url: null, project: null, hasToken: false, hasWebhookSecret: false },
    });
  });

  it('stays as it is where nothing is said of it, and follows the repository', async () => {
    await configure({ repositoryUrl: REMOTE, forge: { name: 'gitea', token: TOKEN, webhookSecret: SECRET } });
    const before = await binding();
    await configure({ branch: 'other' });
    expect(await binding()).to.deep.include({
      ...{ forge: 'gitea', forgeUrl: before.forgeUrl, sealedForgeToken: before.sealedForgeToken },
      ...{ sealedWebhookSecret: before.sealedWebhookSecret, forgeProject: 'acme/pipes' },
    });
    const moved = await configure({ repositoryUrl: 'https://git.example.org/acme/lines' });
    expect(moved.forge).to.include({ project: 'acme/lines', hasToken: true, hasWebhookSecret: true });
    await configure({ forge: { name: 'gitea', webhookSecret: null, project: 'acme/other' } });
    expect((await status()).forge).to.include({
      project: 'acme/other',
      hasToken: true,
      hasWebhookSecret: false,
    });
    await configure({ repositoryUrl: REMOTE });
    expect((await status()).forge, 'what somebody chose stays').to.include({ project: 'acme/other' });
    expect((await configure({ repositoryUrl: 'embedded' })).forge).to.equal(null);
    expect(await binding()).to.include({ forge: 'none', sealedForgeToken: null, sealedWebhookSecret: null });
  });

  it('gets its token for one address, and no other gets it', async () => {
    await configure({ repositoryUrl: REMOTE, forge: { name: 'gitea', token: TOKEN } });
    for (const input of [
      { repositoryUrl: 'https://evil.example.org/acme/pipes.git' },
      { repositoryUrl: 'https://git.example.org:8443/acme/pipes.git' },
      { forge: { name: 'gitea', url: 'https://evil.example.org' } },
      { forge: { name: 'gitea', url: 'https://git.example.org/elsewhere' } },
      { forge: { name: 'gitlab' } },
    ])
      expect(await refused(input), JSON.stringify(input)).to.match(
        /^BAD_REQUEST: forge\.token: the stored token was given for https:\/\/git\.example\.org\/api\/v1, not for https:/,
      );
    expect(await binding()).to.include({ forgeUrl: 'https://git.example.org/api/v1' });
  });

  it('says of each field what is wrong with it', async () => {
    const forge = (fields: object, repositoryUrl = REMOTE) => ({
      repositoryUrl,
      forge: { name: 'gitea', token: TOKEN, ...fields },
    });
    const cases: [object, RegExp][] = [
      [
        forge({ url: 'ftp://x' }),
        /^forge\.url: this is not an http\(s\) address; write something like https/,
      ],
      [forge({ url: 'http://git.example.org' }), /^forge\.url: http:\/\/ would send the token unencrypted/],
      [forge({ url: 'https://a:b@git.example.org' }), /^forge\.url: the token does not belong/],
      [forge({ url: 'https://git.example.org/?x' }), /^forge\.url: .* no \? and no #/],
      [forge({ url: 'https://169.254.169.254/' }), /^forge\.url: .*HEADGATE_PRIVATE_TARGETS/],
      [forge({ project: 'acme' }), /^forge\.project: this is not a project; write owner\/name/],
      [forge({ project: 'a/../b' }), /^forge\.project/],
      [forge({}, 'https://git.example.org/pipes.git'), /^forge\.project: the address of the repository/],
      [forge({ name: 'bitbucket' }), /^forge\.url: git\.example\.org is not bitbucket\.org/],
      [forge({ token: undefined }), /^forge\.token is missing/],
      [forge({ token: 'two\nlines' }), /^forge\.token holds a blank or a line break/],
      [forge({ webhookSecret: 'a secret with blanks in' }), /^forge\.webhookSecret holds/],
      [forge({ webhookSecret: 'short' }), /webhookSecret/],
      [{ repositoryUrl: REMOTE, forge: { name: 'none', token: TOKEN } }, /^forge\.token needs a forge/],
      [{ repositoryUrl: REMOTE, review: { protectBranch: true } }, /^review: a remote repository has/],
      [
        { forge: { name: 'gitea', token: TOKEN } },
        /^forge: Headgate keeps the pull requests of its own repository/,
      ],
      [{ forge: { name: 'none', webhookSecret: SECRET } }, /^forge\.webhookSecret needs a forge/],
      [
        { repositoryUrl: 'git@git.example.org:a/b.git', caCertificate: AUTHORITY },
        /^knownHosts|^caCertificate/,
      ],
    ];
    for (const [input, message] of cases) {
      const told = await refused(input);
      expect(told, JSON.stringify(input)).to.match(/^BAD_REQUEST: /);
      expect(told.replace('BAD_REQUEST: ', ''), JSON.stringify(input)).to.match(message);
      expect(told).not.to.contain(TOKEN);
    }
    expect(await findBinding(test.db, environmentId)).to.equal(null);
  });

  it('may have an authority of its own beside a repository by ssh', async () => {
    const { caCertificate, forge } = await configure({
      repositoryUrl: 'ssh://git@git.example.org:2222/acme/pipes.git',
      knownHosts:
        'git.example.org ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBV1yD8oqZyLw8u3h9n2m0qk4v0v3Wn6q7VnJ3k1T2aX',
      credentials: { type: 'ssh', privateKey: LEAF_KEY },
      caCertificate: AUTHORITY,
      forge: { name: 'gitea', token: TOKEN },
    });
    expect(caCertificate?.trim()).to.equal(AUTHORITY.trim());
    expect(forge).to.include({ url: 'https://git.example.org/api/v1', project: 'acme/pipes' });
  });

  it('is none of the embedded repository, which has rules for its branch instead', async () => {
    const first = await configure({ review: { protectBranch: true } });
    expect(first).to.deep.include({ forge: null, review: { protectBranch: true, requiredApprovals: 0 } });
    const second = await configure({ review: { requiredApprovals: 2 } });
    expect(second.review).to.deep.equal({ protectBranch: true, requiredApprovals: 2 });
    expect((await configure({})).review).to.deep.equal({ protectBranch: true, requiredApprovals: 2 });
  });

  it('is asked whether it takes the token, and what it says is kept until it does', async () => {
    const wrong = { ...here(), forge: { name: 'gitea', token: TOKEN } };
    await configure(wrong);
    const first = await check();
    expect(first.ok).to.equal(false);
    expect(first.message).to.match(/^Gitea at localhost:\d+ does not take the token/);
    const { error } = (await status()).forge ?? {};
    expect(error?.message).to.equal(first.message);
    expect(error?.at).to.be.a('string');
    await configure(here());
    expect((await status()).forge?.error, 'another token').to.equal(null);
    expect(await check()).to.deep.equal({ ok: true, message: 'Gitea takes the token' });
    expect((await status()).forge?.error).to.equal(null);
    const rows = await test.db('audit_log').where({ action: 'gitSync.forgeChecked' }).orderBy('created_at');
    expect(rows.slice(-2).map(({ metadata }) => metadata)).to.deep.equal([
      { forge: 'gitea', ok: false },
      { forge: 'gitea', ok: true },
    ]);
  });

  it('is asked by administrators of the team alone, and where there is one', async () => {
    expect(await refusal(places.root, 'mutation', 'gitSync.checkForge', { environmentId })).to.match(
      /^PRECONDITION_FAILED: This environment has no forge/,
    );
    await configure(here());
    for (const [person, wanted] of [
      [places.viewer, 'FORBIDDEN'],
      [places.editor, 'FORBIDDEN'],
      [places.admin, 'OK'],
    ] as const)
      expect(await refusal(person, 'mutation', 'gitSync.checkForge', { environmentId })).to.match(
        new RegExp(`^${wanted}`),
      );
    const { foreignId } = places;
    expect(
      await refusal(places.admin, 'mutation', 'gitSync.checkForge', { environmentId: foreignId }),
    ).to.match(/^FORBIDDEN/);
    expect(await refusal(places.root, 'mutation', 'gitSync.checkForge', {})).to.match(/^BAD_REQUEST/);
  });

  it('has troubles that are noted once and cleared once', async () => {
    await configure(here());
    const { id } = await binding();
    expect(await setForgeError(test.db, id, 'down')).to.equal(true);
    const at = (await binding()).forgeError?.at;
    expect(await setForgeError(test.db, id, 'down')).to.equal(false);
    expect((await binding()).forgeError).to.deep.equal({ message: 'down', at });
    expect(await setForgeError(test.db, id, null)).to.equal(true);
    expect(await setForgeError(test.db, id, null)).to.equal(false);
    expect((await binding()).forgeError).to.equal(null);
  });

  it('has secrets that a rotation of keys goes over, each in its own column', async () => {
    const old = createKeyring(KEY);
    await configure({
      repositoryUrl: REMOTE,
      credentials: { type: 'basic', username: 'git', password: TOKEN },
      forge: { name: 'gitea', token: TOKEN, webhookSecret: SECRET },
    });
    const before = await binding();
    const both = createKeyring(['another key of the tests, also long', KEY]);
    expect((await resealAll(test.db, both)).unreadable).to.deep.equal([]);
    const after = await binding();
    const alone = createKeyring('another key of the tests, also long');
    expect(openForgeToken(alone, after)).to.equal(TOKEN);
    expect(openWebhookSecret(alone, after.id, after.sealedWebhookSecret ?? '')).to.equal(SECRET);
    for (const [what, open] of Object.entries({
      'a webhook secret as a token': () =>
        openForgeToken(old, { ...before, sealedForgeToken: before.sealedWebhookSecret }),
      'credentials as a token': () =>
        openForgeToken(old, { ...before, sealedForgeToken: before.sealedCredentials }),
      'a token as a webhook secret': () => openWebhookSecret(old, before.id, before.sealedForgeToken ?? ''),
      'a token as credentials': () =>
        openCredentials(old, { ...before, sealedCredentials: before.sealedForgeToken }),
      'a token of another binding': () =>
        openForgeToken(old, { ...before, sealedForgeToken: sealForgeToken(old, 'another', TOKEN) }),
    }))
      expect(open, what).to.throw('does not open');
    await resealAll(test.db, createKeyring([KEY, 'another key of the tests, also long']));
  });

  it('keeps its secrets out of everything that is kept, logged, answered or told', async () => {
    const github = await new GitHubServer().listen();
    try {
      github.token = TOKEN;
      const answers = [
        await configure({
          repositoryUrl: `${github.origin}/acme/pipes.git`,
          forge: { name: 'github', token: TOKEN, webhookSecret: SECRET },
        }),
        await check(),
        await configure({ forge: { name: 'github', token: 'canary/An0ther+token' } }),
        await check(),
        await status(),
        await places.root.query('dashboard.recentAudit', {}),
      ];
      expect(answers[1]).to.include({ ok: true });
      expect(answers[3]).to.include({ ok: false });
      const audited = await test
        .db('audit_log')
        .where({ action: 'gitSync.configured', environment_id: environmentId })
        .orderBy('created_at');
      expect(audited[0]?.diff).to.deep.include({
        forge: ['none', 'github'],
        forgeUrl: [null, `${github.origin}/api/v3`],
        forgeToken: [null, 'changed'],
        webhookSecret: [null, 'changed'],
      });
      expect(audited[1]?.diff)
        .to.deep.include({ forgeToken: ['set', 'changed'] })
        .and.not.have.property('forge');
      const everything = `${JSON.stringify(answers)}\n${await everythingStored(test)}`;
      for (const secret of [TOKEN, SECRET, 'canary/An0ther+token'])
        for (const form of writtenForms(secret)) expect(everything.includes(form), form).to.equal(false);
    } finally {
      await github.stop();
    }
  });
});
