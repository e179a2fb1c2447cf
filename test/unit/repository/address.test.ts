import { expect } from 'chai';
import fc from 'fast-check';
import { AddressError, isSameAddress, readAddress } from '../../../controller/delivery/repository/index.ts';

describe('the address of a repository', () => {
  for (const [given, url, host, port] of [
    ['https://github.com/acme/config.git', 'https://github.com/acme/config.git', 'github.com', 443],
    ['HTTPS://GitHub.com:443/acme/config/', 'https://github.com/acme/config', 'github.com', 443],
    [
      'http://git.internal:3000/acme/config.git',
      'http://git.internal:3000/acme/config.git',
      'git.internal',
      3000,
    ],
    ['https://[2001:db8::1]/x.git', 'https://[2001:db8::1]/x.git', '2001:db8::1', 443],
    ['https://git.example.org.:8443/x', 'https://git.example.org:8443/x', 'git.example.org', 8443],
    ['ssh://git@GitLab.com:22/acme/config.git', 'ssh://git@gitlab.com/acme/config.git', 'gitlab.com', 22],
    ['ssh://git@host:2222/~/config.git', 'ssh://git@host:2222/~/config.git', 'host', 2222],
    ['ssh://git@[2001:db8::1]:2222/x.git', 'ssh://git@[2001:db8::1]:2222/x.git', '2001:db8::1', 2222],
    ['git@github.com:acme/config.git', 'git@github.com:acme/config.git', 'github.com', 22],
    ['deploy@host:/srv/git/config.git', 'ssh://deploy@host/srv/git/config.git', 'host', 22],
  ] as const) {
    it(`${given} is ${url}`, () => {
      expect(readAddress(given)).to.include({ url, host, port });
    });
  }

  for (const [given, message] of [
    ['ext::sh -c touch% /tmp/x', /has no blanks/],
    ['ext::sh', /would run a program/],
    ['fd::17', /would run a program/],
    ['file:///etc', /folders of the controller/],
    ['/etc', /folders of the controller/],
    ['../config.git', /folders of the controller/],
    ['-u./x', /has no blanks and no special characters/],
    ['--upload-pack=x', /has no blanks and no special characters/],
    ['ssh://-oProxyCommand=x/y', /has no user/],
    ['ssh://git@-oProxyCommand=x/y', /host of the address is not valid/],
    ['ssh://-oProxyCommand=x@host/y', /user name of the address is not valid/],
    ['git@-oProxyCommand=x:y', /host of the address is not valid/],
    ['git@host:-x', /does not begin with -/],
    ['git@host::x', /not the address/],
    ['https://user:token@host/x.git', /give them as credentials/],
    ['https://token@host/x.git', /give them as credentials/],
    ['ssh://git:password@host/x.git', /ssh needs a key/],
    ['https://host/x.git?token=1', /has no \?/],
    ['https://host/x.git#main', /has no \?/],
    ['https://host/', /has no path/],
    ['ssh://git@host', /has no path/],
    ['ssh://git@host:0/x', /port/],
    ['ssh://git@host:99999/x', /port/],
    ['https://host/a/%2e%2e/../x\u0000', /no special characters/],
    ['ssh://git@host/a/../../etc', /characters that are not supported/],
    ['ssh://git@host/a%0ab', /characters that are not supported/],
    ['ssh://git@host/a"b', /characters that are not supported/],
    ['git://host/x', /git:\/\/ is not supported/],
    ['ftp://host/x', /ftp:\/\/ is not supported/],
    ['config.git', /not the address/],
    [`https://host/${'x'.repeat(3_000)}`, /no special characters/],
  ] as const) {
    it(`is refused: ${JSON.stringify(given).slice(0, 60)}`, () => {
      expect(() => readAddress(given)).to.throw(AddressError, message);
    });
  }

  it('is the same after it was read again, and holds nothing that git or a shell would act on', () => {
    const part = fc.string({ unit: fc.constantFrom(...'aZ09-_.~%/@: ;$`|&<>"\'\\\n\0:'), maxLength: 20 });
    fc.assert(
      fc.property(
        fc.constantFrom('https://', 'http://', 'ssh://', 'ssh://git@', 'git@', ''),
        part,
        part,
        fc.constantFrom('/', ':', ':22/'),
        (scheme, host, path, between) => {
          let url: string;
          try {
            ({ url } = readAddress(`${scheme}${host}${between}${path}`));
          } catch (error) {
            if (error instanceof AddressError) return;
            throw error;
          }
          expect(readAddress(url).url).to.equal(url);
          expect(url).to.match(/^(?:https?:\/\/|ssh:\/\/|[a-z0-9_][^@/:]*@)[^\s"`\\;|<>\0]+$/i);
        },
      ),
      { numRuns: 3_000 },
    );
  });

  it('is another place where scheme, host or port differ', () => {
    const same = (a: string, b: string) => isSameAddress(readAddress(a), readAddress(b));
    expect(same('https://host/a.git', 'https://host/b.git')).to.equal(true);
    expect(same('git@host:a.git', 'ssh://git@host/b.git')).to.equal(true);
    expect(same('https://host/a.git', 'http://host/a.git')).to.equal(false);
    expect(same('https://host/a.git', 'https://host:8443/a.git')).to.equal(false);
    expect(same('https://host/a.git', 'https://other/a.git')).to.equal(false);
  });
});
