import { expect } from 'chai';
import {
  deriveForgeEndpoint,
  type KnownForge,
} from '../../../controller/delivery/bindings/forge/forge-address.ts';
import { readAddress } from '../../../controller/delivery/repository/index.ts';
import type { BoundForge } from '../../../schemas/api/delivery/forges.ts';
import { REMOTE_FORGES } from '../../../schemas/api/delivery/pull-requests.ts';
import {
  derived,
  FORGES,
  type ForgeDraft,
  forgeDraft,
  forgeInput,
  makeSecret,
  problemOfForge,
  WEBHOOKS,
} from '../../../web/src/features/git/binding/forge-draft.ts';

const REMOTE = 'https://git.example.com/team/config.git';
const BOUND: BoundForge = {
  name: 'gitea',
  url: 'https://git.example.com/api/v1',
  project: 'team/config',
  hasToken: true,
  appId: null,
  hasWebhookSecret: true,
  error: null,
};
const draft = (change: Partial<ForgeDraft>): ForgeDraft => ({ ...forgeDraft(null), ...change });

describe('where a forge is, as the form foretells it', () => {
  const addresses = [
    'https://github.com/acme/config.git',
    'git@github.com:acme/config.git',
    'ssh://git@ssh.github.com:443/acme/config.git',
    'https://ghe.example.com/acme/config',
    'https://www.github.com/acme/config',
    'https://acme.ghe.com/acme/config.git',
    'https://gitlab.com/group/sub/config.git',
    'git@gitlab.example.com:group/config.git',
    'https://git.example.com:8443/team/config.git',
    'http://127.0.0.1:3000/team/config.git',
    'ssh://git@git.example.com:2222/team/config.git',
    'https://bitbucket.org/acme/config.git',
    'git@bitbucket.org:acme/config.git',
    'https://bitbucket.example.com/scm/config.git',
    'https://bitbucket.example.com:7990/stash/scm/ACME/config.git',
    'ssh://git@bitbucket.example.com:7999/~ann/config.git',
    'https://dev.azure.com/acme/Data%20Team/_git/config',
    'https://dev.azure.com/acme/_git/config',
    'git@ssh.dev.azure.com:v3/acme/data/config',
    'https://acme.visualstudio.com/data/_git/config',
    'https://tfs.example.com/tfs/Main/data/_git/config',
  ];
  const forges: readonly KnownForge[] = REMOTE_FORGES;
  for (const address of addresses) {
    it(`is what the server takes for ${address}`, () => {
      for (const name of forges) {
        const { url, project } = deriveForgeEndpoint(name, readAddress(address));
        const foretold = derived(name, address);
        expect(foretold.url, name).to.equal(url ?? '');
        if (project !== null) expect(foretold.project, name).to.equal(project);
      }
    });
  }

  it('tells nothing of an address that is none', () => {
    expect(derived('gitlab', 'nonsense')).to.deep.equal({ url: '', project: '' });
  });
});

describe('the forge of a binding while it is written', () => {
  it('keeps what the server has, and sends none of it again', () => {
    const kept = forgeDraft(BOUND);
    expect(problemOfForge(kept, BOUND, REMOTE)).to.equal('');
    expect(forgeInput(kept)).to.deep.equal({
      name: 'gitea',
      url: 'https://git.example.com/api/v1',
      project: 'team/config',
    });
  });

  it('keeps the token where the address is left to the repository, and it is the same', () => {
    expect(problemOfForge({ ...forgeDraft(BOUND), url: '', project: '' }, BOUND, REMOTE)).to.equal('');
  });

  const missing = [
    { reason: 'another address', change: { ...forgeDraft(BOUND), url: 'https://other.example.com/api/v1' } },
    { reason: 'another forge', change: draft({ name: 'gitlab' }) },
    { reason: 'another forge at that address', change: { ...forgeDraft(BOUND), name: 'gitlab' as const } },
    { reason: 'a token that is replaced', change: { ...forgeDraft(BOUND), replacesToken: true } },
  ];
  for (const { reason, change } of missing)
    it(`wants a token for ${reason}`, () => {
      expect(problemOfForge(change, BOUND, REMOTE)).to.equal('Give a token.');
    });

  it('wants what the address of the repository does not tell', () => {
    const own = draft({ name: 'bitbucket', token: 'x' });
    expect(problemOfForge(own, null, REMOTE)).to.equal('Give the address of its API.');
    expect(
      problemOfForge(draft({ name: 'gitlab', token: 'x' }), null, 'https://git.example.com/config'),
    ).to.equal('Give the project: group/name, with all groups.');
  });

  it('says which rights a token has to have, and which events the webhook is to send', () => {
    expect(FORGES.gitlab.rights).to.equal(
      'A project access token of the role Developer, with the scope api.',
    );
    for (const name of REMOTE_FORGES) {
      expect(FORGES[name].rights, name).to.match(/\.$/);
      expect(WEBHOOKS[name].events, name).to.not.be.empty;
    }
  });

  it('takes a secret away, gives another, and asks for one that is long enough', () => {
    const replaced = { ...forgeDraft(BOUND), webhook: 'replace' as const, secret: 'short' };
    expect(problemOfForge(replaced, BOUND, REMOTE)).to.match(/16 characters/);
    const made = makeSecret();
    expect(made).to.match(/^[0-9a-f]{64}$/);
    expect(forgeInput({ ...replaced, secret: made }).webhookSecret).to.equal(made);
    expect(forgeInput({ ...forgeDraft(BOUND), webhook: 'none' }).webhookSecret).to.equal(null);
    expect(forgeInput(forgeDraft(BOUND))).to.not.have.property('webhookSecret');
  });

  it('goes back to none', () => {
    expect(forgeInput(draft({ name: 'none', token: 'left over' }))).to.deep.equal({ name: 'none' });
  });
});
