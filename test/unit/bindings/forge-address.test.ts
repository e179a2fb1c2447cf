/** Which API and which project the address of a repository tells, and what may be said instead. */
import { expect } from 'chai';
import fc from 'fast-check';
import {
  ForgeAddressError,
  forgeEndpoint,
  type KnownForge,
} from '../../../controller/delivery/bindings/forge/forge-address.ts';
import { readAddress } from '../../../controller/delivery/repository/index.ts';

const place = (name: KnownForge, address: string, given: { url?: string; project?: string } = {}): string => {
  try {
    const { url, project } = forgeEndpoint(name, given, readAddress(address));
    return `${url} ${project}`;
  } catch (error) {
    if (!(error instanceof ForgeAddressError)) throw error;
    return error.message;
  }
};

describe('the place of a forge', () => {
  const TOLD: [KnownForge, string, string][] = [
    ['github', 'https://github.com/acme/pipes.git', 'https://api.github.com acme/pipes'],
    ['github', 'https://github.com/acme/pipes', 'https://api.github.com acme/pipes'],
    ['github', 'git@github.com:acme/pipes.git', 'https://api.github.com acme/pipes'],
    ['github', 'ssh://git@ssh.github.com:443/acme/pipes.git', 'https://api.github.com acme/pipes'],
    ['github', 'https://acme.ghe.com/acme/pipes', 'https://api.acme.ghe.com acme/pipes'],
    ['github', 'https://ghe.example.org:8443/a/b', 'https://ghe.example.org:8443/api/v3 a/b'],
    ['github', 'ssh://git@ghe.example.org:2222/a/b', 'https://ghe.example.org/api/v3 a/b'],
    ['gitlab', 'git@gitlab.com:acme/data/pipes.git', 'https://gitlab.com/api/v4 acme/data/pipes'],
    ['gitlab', 'ssh://git@altssh.gitlab.com:443/acme/pipes', 'https://gitlab.com/api/v4 acme/pipes'],
    ['gitlab', 'http://lab.example.org:8080/a/b.git', 'http://lab.example.org:8080/api/v4 a/b'],
    ['gitea', 'https://codeberg.org/a/my.pipes.git', 'https://codeberg.org/api/v1 a/my.pipes'],
    ['gitea', 'git@[2001:db8::1]:a/b.git', 'https://[2001:db8::1]/api/v1 a/b'],
    ['gitea', 'https://git.example.org/a/b%2Dc.git', 'https://git.example.org/api/v1 a/b-c'],
    ['bitbucket', 'https://bitbucket.org/acme/pipes.git', 'https://api.bitbucket.org/2.0 acme/pipes'],
    ['bitbucket', 'git@bitbucket.org:acme/pipes.git', 'https://api.bitbucket.org/2.0 acme/pipes'],
    [
      'bitbucket-data-center',
      'https://git.example.org/scm/ACME/pipes.git',
      'https://git.example.org/rest/api/1.0 ACME/pipes',
    ],
    [
      'bitbucket-data-center',
      'https://git.example.org:7990/stash/scm/~ann/pipes.git',
      'https://git.example.org:7990/stash/rest/api/1.0 ~ann/pipes',
    ],
    [
      'bitbucket-data-center',
      'ssh://git@git.example.org:7999/acme/pipes.git',
      'https://git.example.org/rest/api/1.0 acme/pipes',
    ],
    [
      'azure-devops',
      'https://dev.azure.com/acme/Data%20Team/_git/pipes',
      'https://dev.azure.com/acme Data Team/pipes',
    ],
    ['azure-devops', 'https://dev.azure.com/acme/_git/pipes', 'https://dev.azure.com/acme pipes/pipes'],
    ['azure-devops', 'git@ssh.dev.azure.com:v3/acme/data/pipes', 'https://dev.azure.com/acme data/pipes'],
    [
      'azure-devops',
      'https://acme.visualstudio.com/DefaultCollection/data/_git/pipes',
      'https://dev.azure.com/acme data/pipes',
    ],
    [
      'azure-devops',
      'https://tfs.example.org/tfs/Main/data/_git/pipes',
      'https://tfs.example.org/tfs/Main data/pipes',
    ],
  ];
  for (const [name, address, wanted] of TOLD)
    it(`is told by ${address}`, () => expect(place(name, address)).to.equal(wanted));

  const GIVEN: [KnownForge, string, object, string][] = [
    ['github', 'https://ghe.example.org/a/b', { url: 'https://github.com' }, 'https://api.github.com a/b'],
    ['github', 'https://x.org/a/b', { url: 'https://x.org/api/v3/' }, 'https://x.org/api/v3 a/b'],
    ['github', 'https://x.org/a/b', { url: 'https://x.org' }, 'https://x.org/api/v3 a/b'],
    [
      'gitlab',
      'https://x.org/lab/a/b',
      { url: 'https://x.org/lab/', project: 'a/b' },
      'https://x.org/lab/api/v4 a/b',
    ],
    ['gitea', 'git@x.org:a/b', { url: 'https://git.x.org:3000' }, 'https://git.x.org:3000/api/v1 a/b'],
    ['gitea', 'https://x.org/git/deep/a/b', { project: '/a/b.git' }, 'https://x.org/api/v1 a/b'],
    [
      'bitbucket',
      'https://x.org/a/b',
      { url: 'https://api.bitbucket.org' },
      'https://api.bitbucket.org/2.0 a/b',
    ],
    ['bitbucket', 'http://localhost:1/a/b', { url: 'http://localhost:1' }, 'http://localhost:1/2.0 a/b'],
  ];
  for (const [name, address, given, wanted] of GIVEN)
    it(`is what is given: ${JSON.stringify(given)}`, () =>
      expect(place(name, address, given)).to.equal(wanted));

  const REFUSED: [KnownForge, string, object, RegExp][] = [
    ['github', 'https://github.com/a/b/c', {}, /^forge\.project: the address .* owner\/name$/],
    ['gitlab', 'https://gitlab.com/alone', {}, /^forge\.project: .* with all groups$/],
    ['gitea', 'git@x.org:~ann/b', {}, /^forge\.project/],
    [
      'bitbucket',
      'https://stash.example.org/a/b',
      {},
      /^forge\.url: .*choose "bitbucket-data-center".*choose "none"/,
    ],
    ['azure-devops', 'https://git.example.org/a/b', {}, /^forge\.url: .*dev\.azure\.com.*choose "none"/],
    [
      'bitbucket-data-center',
      'https://git.example.org/a',
      {},
      /^forge\.project: .*write PROJECT\/name, or ~user\/name$/,
    ],
    ['gitea', 'https://x.org/a/b', { url: 'https://x.org/#api' }, /^forge\.url/],
    [
      'gitea',
      'https://x.org/a/b',
      { url: 'x.org/api' },
      /^forge\.url: this is not an http\(s\) address; write something like https:\/\/x\.org\/api\/v1$/,
    ],
    ['gitea', 'https://x.org/a/b', { url: 'http://x.org' }, /unencrypted/],
    ['gitea', 'git@x.org:a/b', { url: 'http://x.org' }, /unencrypted/],
    ['gitea', 'https://x.org/a/b', { project: 'a/b/c' }, /owner\/name/],
    ['gitea', 'https://x.org/a/b', { project: 'a/b?c' }, /owner\/name/],
    ['gitlab', 'https://x.org/a/b', { project: 'a//b' }, /group\/name/],
  ];
  for (const [name, address, given, wanted] of REFUSED)
    it(`is refused: ${address} ${JSON.stringify(given)}`, () =>
      expect(place(name, address, given)).to.match(wanted));

  it('is never another host than the one that was given, whatever is written', () => {
    fc.assert(
      fc.property(
        fc.constantFrom<KnownForge>('github', 'gitlab', 'gitea'),
        fc.oneof(
          fc.webUrl({ validSchemes: ['https', 'http'], withQueryParameters: true }),
          fc.string({ maxLength: 60 }),
        ),
        fc.string({ maxLength: 40 }),
        (name, url, project) => {
          try {
            const found = forgeEndpoint(name, { url, project }, readAddress('https://git.example.org/a/b'));
            const host = new URL(url).hostname;
            expect([host, `api.${host}`.replace('api.www.', 'api.')]).to.include(new URL(found.url).hostname);
            expect(found.url).to.match(/^https:\/\/[^?#@\s]+[^/]$/);
            expect(found.project).to.match(/^[\w.~+-]+(\/[\w.~+-]+)+$/);
            expect(found.project.split('/')).not.to.include('..');
          } catch (error) {
            expect((error as Error).name).to.be.oneOf(['ForgeAddressError', 'AssertionError']);
            if ((error as Error).name === 'AssertionError') throw error;
          }
        },
      ),
    );
  });
});
