import { expect } from 'chai';
import { ProxyError, proxyFor } from '../../../controller/platform/net/proxies.ts';

const settings = (except: string) => ({ http: null, https: 'http://proxy:3128', except });
const goesBy = (host: string, except: string, port = 443) =>
  proxyFor({ transport: 'https', host, port }, settings(except)) !== null;

describe('which proxy an address is reached by', () => {
  for (const [except, host] of [
    ['*', 'git.example.org'],
    ['git.example.org', 'git.example.org'],
    ['example.org', 'git.example.org'],
    ['.example.org', 'git.example.org'],
    ['*.example.org', 'git.example.org'],
    ['EXAMPLE.org.', 'Git.Example.Org.'],
    ['a, example.org ,b', 'example.org'],
    ['a b', 'b'],
    ['10.0.0.0/8', '10.1.2.3'],
    ['10.1.2.3', '10.1.2.3'],
    ['fd00::/8', 'fd12::1'],
    ['::1', '::1'],
    ['[::1]:443', '::1'],
    ['example.org:443', 'git.example.org'],
  ] as const) {
    it(`is none for ${host} where NO_PROXY is ${except}`, () => expect(goesBy(host, except)).to.equal(false));
  }

  for (const [except, host] of [
    ['', 'git.example.org'],
    [',', 'git.example.org'],
    ['.', 'git.example.org'],
    [':443', 'git.example.org'],
    ['example.org', 'notexample.org'],
    ['git.example.org', 'example.org'],
    ['example.org:8443', 'git.example.org'],
    ['10.0.0.0/8', '11.1.2.3'],
    ['10.0.0.0/99', '10.1.2.3'],
    ['0.0.0/8', '10.1.2.3'],
    ['1', '10.0.0.1'],
    ['fd00::/8', '10.1.2.3'],
  ] as const) {
    it(`is one for ${host} where NO_PROXY is ${JSON.stringify(except)}`, () =>
      expect(goesBy(host, except)).to.equal(true));
  }

  it('is that of its scheme', () => {
    expect(proxyFor({ transport: 'http', host: 'a', port: 80 }, settings(''))).to.equal(null);
  });

  it('may be said without a scheme, and must be one that is spoken', () => {
    const by = (https: string) =>
      proxyFor({ transport: 'https', host: 'a', port: 443 }, { http: null, https, except: '' })?.href;
    expect(by('proxy.example.org:3128')).to.equal('http://proxy.example.org:3128/');
    expect(by('https://me:word@proxy')).to.equal('https://me:word@proxy/');
    for (const bad of ['socks5://me:secret@x:1', 'http://', 'http://a b', '://'])
      expect(() => by(bad)).to.throw(ProxyError, /^HTTPS_PROXY of the controller is not like http:/);
    expect(() => by('socks5://me:secret@x:1'))
      .to.throw()
      .with.property('message')
      .that.does.not.include('secret');
  });
});
