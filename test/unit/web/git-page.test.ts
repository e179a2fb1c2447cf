/** What the git page works out by itself: what is wrong by harm, links to git servers, the draft of a binding, diffs. */
import { expect } from 'chai';
import { DEFAULT_POLICY } from '../../../schemas/api/delivery/git-policy.ts';
import type { GitSyncStatus, ManifestStatus } from '../../../schemas/api/delivery/git-sync.ts';
import {
  accessOf,
  bindingDraft,
  configureInput,
  hostOf,
  isSsh,
  problemOfDraft,
} from '../../../web/src/features/git/binding/binding-draft.ts';
import { forgeLink } from '../../../web/src/features/git/forge-link.ts';
import { isOnlyRead, keptBackWord, whatIsWrong } from '../../../web/src/features/git/git-problem.ts';
import { hunksOf } from '../../../web/src/ui/code/unified-diff.ts';

const AT = new Date('2026-01-02T03:04:05Z');

const STATUS: GitSyncStatus = {
  environmentId: 'e1',
  environmentName: 'My staging',
  configured: true,
  mode: 'sync',
  repositoryUrl: 'embedded',
  cloneUrl: 'http://localhost/git/config.git',
  branch: 'main',
  path: 'staging',
  suspended: false,
  suspension: null,
  intervalSeconds: 60,
  sharedPaths: ['shared'],
  credentials: null,
  knownHosts: null,
  caCertificate: null,
  webhookUrl: null,
  forge: null,
  review: { protectBranch: false, requiredApprovals: 0 },
  pullRequests: {
    ...{ deleteBranches: true, draft: false, labels: [], reviewers: [], assignees: [] },
    ...{ title: null, body: null },
  },
  policy: { binding: DEFAULT_POLICY, effective: DEFAULT_POLICY },
  waitsForFirstPlan: false,
  waitingPlan: null,
  pendingCount: 0,
  failedCount: 0,
  importErrorCount: 0,
  lastSyncAt: AT,
  headCommit: null,
  appliedCommit: null,
  redirectedTo: null,
  lastError: null,
  gate: [],
  manifests: [],
};

const manifest = (name: string, reason: string, kind = 'Pipeline'): ManifestStatus => ({
  kind,
  name,
  path: `staging/${name}.yaml`,
  line: 1,
  objectId: null,
  appliedCommit: null,
  seenCommit: null,
  ready: false,
  gate: [],
  silentNodes: [],
  silentNodeCount: 0,
  conditions: [
    {
      type: 'Applied',
      status: 'False',
      reason,
      message: '',
      file: null,
      line: null,
      commit: null,
      lastTransition: AT,
    },
  ],
});

const REMOTE: GitSyncStatus = {
  ...STATUS,
  repositoryUrl: 'https://git.example.com/team/config.git',
  credentials: { type: 'basic', username: 'bot', publicKey: null },
};

describe('what is wrong between git and an environment', () => {
  it('is nothing where all is applied', () => {
    expect(whatIsWrong({ ...STATUS, manifests: [manifest('a', 'Applied')] })).to.deep.equal([]);
  });

  it('names suspended objects where not all of it is suspended', () => {
    const wrong = whatIsWrong({ ...STATUS, manifests: [manifest('suspended', 'Suspended')] });
    expect(wrong.map(({ key }) => key)).to.deep.equal(['suspended-objects']);
  });

  it('comes by harm, each with one thing to do', () => {
    const wrong = whatIsWrong({
      ...STATUS,
      importErrorCount: 2,
      waitingPlan: { hash: 'a'.repeat(32), since: AT, guards: [] },
      suspension: { by: 'Ada', at: AT, reason: 'a look first' },
      manifests: [
        manifest('drifted', 'Drifted'),
        manifest('suspended', 'Suspended'),
        manifest('held', 'Held'),
        manifest('leaving', 'PruneWaits'),
        manifest('twice', 'Conflict', 'AlertRule'),
        manifest('blocked', 'Blocked'),
      ],
    });
    expect(wrong.map(({ key }) => key)).to.deep.equal([
      'plan',
      'refused',
      'failed',
      'conflict',
      'prune',
      'held',
      'suspended',
      'drifted',
    ]);
    expect(wrong.find(({ key }) => key === 'conflict')?.action).to.deep.equal({
      kind: 'adopt',
      object: { kind: 'AlertRule', name: 'twice' },
    });
    expect(wrong.find(({ key }) => key === 'suspended')?.title).to.equal('The loop is suspended by Ada');
  });

  it('says what a waiting plan goes beyond', () => {
    const guard = { guard: 'maxDeletes', limit: 1, value: 2, message: 'deletes 2 objects' } as const;
    const [plan] = whatIsWrong({
      ...STATUS,
      waitsForFirstPlan: true,
      waitingPlan: {
        hash: 'a'.repeat(32),
        since: AT,
        guards: [
          { ...guard, exceeded: true },
          { ...guard, guard: 'maxDeletePercent', exceeded: false, message: 'is within' },
        ],
      },
    });
    expect(plan?.title).to.equal('The first plan waits for an ADMIN');
    expect(plan?.note).to.equal('It deletes 2 objects.');
  });

  it('tells what is kept back from what is refused, and from what becomes no object', () => {
    expect(keptBackWord(manifest('a', 'Held'))).to.equal('Held');
    expect(keptBackWord(manifest('a', 'Invalid'))).to.equal(null);
    expect(isOnlyRead(manifest('a', 'NotOwned'))).to.equal(true);
    expect(isOnlyRead(manifest('a', 'Applied'))).to.equal(false);
  });
});

describe('a link to a line of a commit', () => {
  const place = { sha: 'abc123', path: 'a dir/b.yaml', line: 7 };
  for (const { url, link } of [
    {
      url: 'https://github.com/team/config.git',
      link: 'https://github.com/team/config/blob/abc123/a%20dir/b.yaml#L7',
    },
    {
      url: 'ssh://git@gitlab.example.com/team/sub/config.git',
      link: 'https://gitlab.example.com/team/sub/config/-/blob/abc123/a%20dir/b.yaml#L7',
    },
    {
      url: 'https://codeberg.org/team/config',
      link: 'https://codeberg.org/team/config/src/commit/abc123/a%20dir/b.yaml#L7',
    },
    { url: 'https://git.example.com/team/config.git', link: null },
    { url: 'embedded', link: null },
    { url: null, link: null },
  ]) {
    it(`is ${link ? 'known' : 'not known'} for ${url}`, () => {
      expect(forgeLink(url, place)).to.equal(link);
    });
  }
});

describe('the draft of a binding', () => {
  it('offers a folder of the environment’s name where nothing is bound yet', () => {
    expect(bindingDraft({ ...STATUS, configured: false }).path).to.equal('environments/my-staging');
  });

  it('reads the server out of every form of an address', () => {
    expect(hostOf('https://git.example.com:8443/a.git')).to.equal('git.example.com:8443');
    expect(hostOf('git@git.example.com:a.git')).to.equal('git.example.com');
    expect(hostOf('ssh://git@git.example.com/a.git')).to.equal('git.example.com');
    expect(hostOf('nothing')).to.equal('');
    expect(isSsh('git@git.example.com:a.git')).to.equal(true);
    expect(isSsh('https://git.example.com/a.git')).to.equal(false);
  });

  it('leaves credentials out while they stay, and asks for them anew on another server', () => {
    const draft = bindingDraft(REMOTE);
    expect(accessOf(draft, REMOTE)).to.equal('keep');
    expect(configureInput(draft, REMOTE)).not.to.have.property('credentials');
    const moved = { ...draft, url: 'https://other.example.com/config.git' };
    expect(accessOf(moved, REMOTE)).to.equal('none');
    expect(configureInput(moved, REMOTE).credentials).to.deep.equal({ type: 'none' });
  });

  it('needs a key and the server’s own for ssh, and sends nothing of https then', () => {
    const ssh = { ...bindingDraft(STATUS), where: 'remote' as const, url: 'git@git.example.com:a.git' };
    expect(problemOfDraft(ssh, STATUS)).to.equal('Give the private key.');
    expect(problemOfDraft({ ...ssh, privateKey: 'k' }, STATUS)).to.match(/host key/);
    const whole = { ...ssh, privateKey: 'k', knownHosts: 'h ssh-ed25519 AAAA', ca: 'a certificate' };
    expect(problemOfDraft(whole, STATUS)).to.equal('');
    const input = configureInput(whole, STATUS);
    expect(input.credentials).to.deep.equal({ type: 'ssh', privateKey: 'k' });
    expect(input).not.to.have.property('caCertificate');
  });

  it('says which number is wrong', () => {
    expect(problemOfDraft({ ...bindingDraft(STATUS), interval: '4' }, STATUS)).to.match(/from 5 to 86,400/);
    expect(problemOfDraft({ ...bindingDraft(STATUS), branch: ' ' }, STATUS)).to.equal('Name a branch.');
  });
});

describe('a unified diff', () => {
  it('becomes two texts a hunk, with the numbers of their first lines', () => {
    const diff = [
      '--- a',
      '+++ b',
      '@@ -2,3 +2,3 @@',
      ' one',
      '-two',
      '+2',
      ' three',
      '@@ -10 +10,2 @@',
      ' ten',
      '+eleven',
      '\\ No newline at end of file',
    ].join('\n');
    expect(hunksOf(diff)).to.deep.equal([
      { before: 'one\ntwo\nthree', after: 'one\n2\nthree', beforeLine: 2, afterLine: 2 },
      { before: 'ten', after: 'ten\neleven', beforeLine: 10, afterLine: 10 },
    ]);
  });
});
