/**
 * What is GitHub's own: the paths that are called, against a table written after its published description of the API; and
 * tokens of apps, of fine and coarse grain.
 */
import { expect } from 'chai';
import { faultOf, GitHubServer, shaOf, useForge } from '../../support/servers/forges/index.ts';

/** Method and path of https://docs.github.com/rest, with the fields of the body that it requires and those that it knows. */
const PUBLISHED: [method: string, path: RegExp, required: string[], known: string[]][] = [
  ['GET', /^\/user$/, [], []],
  ['GET', /^\/repos\/[^/]+\/[^/]+$/, [], []],
  ['GET', /^\/repos\/[^/]+\/[^/]+\/pulls$/, [], []],
  [
    'POST',
    /^\/repos\/[^/]+\/[^/]+\/pulls$/,
    ['head', 'base'],
    ['title', 'body', 'head_repo', 'draft', 'issue', 'maintainer_can_modify'],
  ],
  ['GET', /^\/repos\/[^/]+\/[^/]+\/pulls\/\d+$/, [], []],
  [
    'PATCH',
    /^\/repos\/[^/]+\/[^/]+\/pulls\/\d+$/,
    [],
    ['title', 'body', 'state', 'base', 'maintainer_can_modify'],
  ],
  ['GET', /^\/repos\/[^/]+\/[^/]+\/issues\/\d+\/comments$/, [], []],
  ['POST', /^\/repos\/[^/]+\/[^/]+\/issues\/\d+\/comments$/, ['body'], []],
  ['PATCH', /^\/repos\/[^/]+\/[^/]+\/issues\/comments\/\d+$/, ['body'], []],
  [
    'POST',
    /^\/repos\/[^/]+\/[^/]+\/statuses\/[0-9a-f]{40}$/,
    ['state'],
    ['target_url', 'description', 'context'],
  ],
];
const QUERIES: Record<string, string[]> = {
  pulls: ['state', 'head', 'base', 'sort', 'direction', 'per_page', 'page'],
  comments: ['since', 'per_page', 'page'],
};

describe('GitHub', () => {
  const { server, client } = useForge(GitHubServer);
  const sticky = (body: string, commentId: string | null) =>
    client.forge.comment(1, { marker: '<!-- m -->', body, commentId });

  it('tries what is needed without a trace, and says until when the token is good', async () => {
    server.tokenEnd = '2026-12-24 08:00:00 UTC';
    await client.forge.check();
    expect([server.statuses, server.comments]).to.deep.equal([[], []]);
    expect((await client.forge.tokenEnd())?.toISOString()).to.equal('2026-12-24T08:00:00.000Z');
    server.tokenEnd = null;
    expect(await client.forge.tokenEnd()).to.equal(null);
    server.maySetStatus = false;
    expect(await faultOf(client.forge.check())).to.match(/^credentials: .*statuses: write/);
  });

  it('is asked nothing that its description does not have', async () => {
    const { forge } = client;
    const request = { title: 'One', body: 'Text', branch: 'a', base: 'main' };
    const { number } = await forge.open(request);
    await forge.open(request);
    await forge.update(number, { title: 'Two' });
    await forge.get(number);
    await forge.get(99);
    await forge.listOpen('main');
    await sticky('first', null);
    await sticky('second', await sticky('third', null));
    await forge.setStatus(shaOf('x'), {
      context: 'c',
      state: 'error',
      description: 'd',
      url: 'https://x.org',
    });
    await forge.check();
    await forge.close(number);
    const rows = server.asked.map(({ method, path, body, query, headers }) => {
      const row = PUBLISHED.find(
        ([verb, known]) => verb === method && known.test(path.replace('/api/v3', '')),
      );
      expect(row, `${method} ${path}`).not.to.equal(undefined);
      const [, , required = [], known = []] = row ?? [];
      expect(Object.keys(body), `${method} ${path}`).to.include.members(required);
      expect([...required, ...known], `${method} ${path}`).to.include.members(Object.keys(body));
      expect(QUERIES[path.split('/').at(-1) ?? ''] ?? []).to.include.members([...query.keys()]);
      expect(headers.accept).to.contain('application/vnd.github');
      return row;
    });
    expect(new Set(rows).size, 'every row is used').to.equal(PUBLISHED.length);
  });

  it('may ask for less, also without saying when to come again', async () => {
    server.add();
    server.fault = () => ({
      status: 403,
      text: '{"message":"You have exceeded a secondary rate limit. Please wait a few minutes before you try again."}',
    });
    expect(await faultOf(client.forge.get(1))).to.match(
      /^rate-limited: GitHub .* asked again at \d\d:\d\d UTC$/,
    );
  });

  it('is asked by apps as well, which may not ask who they are', async () => {
    server.isApp = true;
    server.scopes = null;
    server.add();
    await client.forge.check();
    server.say(1, 'mallory', '<!-- m -->\nfaked');
    const id = await sticky('first', null);
    expect(await sticky('second', null)).to.equal(id);
    expect(server.commentsOf(1).map(({ author }) => author)).to.deep.equal(['mallory', server.us]);
  });

  it('tells what a token of coarse grain lacks', async () => {
    server.scopes = 'read:org, gist';
    expect(await faultOf(client.forge.check())).to.match(
      /^credentials: .*no scope "repo"; make one that has it$/,
    );
    server.scopes = 'public_repo';
    await client.forge.check();
  });

  it('has no commit of a merge while it only tries one', async () => {
    server.add();
    expect((await client.forge.get(1))?.mergeSha).to.equal(null);
    server.find(1).state = 'closed';
    expect((await client.forge.get(1))?.mergeSha).to.equal(null);
  });

  it('may have a fork that was deleted, and an author who is gone', async () => {
    server.add();
    server.fault = () => ({ status: 200, text: JSON.stringify(GHOST) });
    const pull = await client.forge.get(1);
    expect(pull).to.include({ isFork: true, author: 'somebody', mergedBy: null, isDraft: false });
    for (const address of ['javascript:alert(1)', 'data:text/html,x', '//x.org']) {
      server.fault = () => ({ status: 200, text: JSON.stringify({ ...GHOST, html_url: address }) });
      expect(await faultOf(client.forge.get(1)), address).to.match(/^unavailable: .*html_url/);
    }
    const long = { ...GHOST, title: 'x\0'.repeat(5_000), body: 'y'.repeat(100_000) };
    server.fault = () => ({ status: 200, text: JSON.stringify(long) });
    const cut = await client.forge.get(1);
    expect(cut?.title).to.equal('x'.repeat(300));
    expect(cut?.body.length).to.equal(20_000);
  });
});

const GHOST = {
  ...{ number: 1, title: 'x', body: null, state: 'open', html_url: 'https://x.org/1', user: null },
  head: { ref: 'a', sha: shaOf('a'), repo: null },
  base: { ref: 'main', repo: { id: 1 } },
  ...{ merged_at: null, updated_at: '2026-01-01T00:00:00Z', closed_at: null },
};
