/** Signatures of webhooks, by the vendors' own examples where they give one, and what tells one delivery from the next. */
import { createHash, createHmac } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import type { KnownForge } from '../../../controller/delivery/bindings/forge/forge-address.ts';
import { isRelevantEvent } from '../../../controller/delivery/bindings/webhooks/webhook-events.ts';
import * as signature from '../../../controller/delivery/bindings/webhooks/webhook-signature.ts';
import { REMOTE_FORGES } from '../../../schemas/api/delivery/pull-requests.ts';

interface Call {
  headers: Record<string, string>;
  body: Buffer;
}
/** The body comes in pieces. */
function isSigned(forge: KnownForge, secret: string, { headers, body }: Call, now = Date.now()): boolean {
  const verifier = signature.verifierOf(forge, secret, { headers, now });
  for (let from = 0; from < body.length; from += 5) verifier.update(body.subarray(from, from + 5));
  return verifier.isSigned();
}
const deliveryIdOf = (forge: KnownForge, { headers, body }: Call): string =>
  signature.deliveryIdOf(forge, headers, createHash('sha256').update(body).digest('hex'));

const FORGES: readonly KnownForge[] = [...REMOTE_FORGES];
const call = (headers: Record<string, string>, body = '{}') => ({ headers, body: Buffer.from(body) });

describe('the signature of a webhook', () => {
  it('is the one that GitHub gives as its example', () => {
    const headers = {
      'x-hub-signature-256': 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
    };
    const secret = "It's a Secret to Everybody";
    expect(isSigned('github', secret, call(headers, 'Hello, World!'))).to.equal(true);
    expect(isSigned('github', secret, call(headers, 'Hello, World?'))).to.equal(false);
  });

  it('is the one that Bitbucket gives as its example', () => {
    const headers = {
      'x-hub-signature': 'sha256=a4771c39fbe90f317c7824e83ddef3caae9cb3d976c214ace1f2937e133263c9',
    };
    const secret = "It's a Secret to Everybody";
    expect(isSigned('bitbucket', secret, call(headers, 'Hello World!'))).to.equal(true);
    expect(isSigned('bitbucket', secret, call(headers, 'Hello World'))).to.equal(false);
  });

  it('may come from Forgejo or Gitea, without a prefix', () => {
    const hex = createHmac('sha256', 's').update('{}').digest('hex');
    for (const header of ['x-gitea-signature', 'x-forgejo-signature'])
      expect(isSigned('gitea', 's', call({ [header]: hex })), header).to.equal(true);
    expect(isSigned('gitea', 's', call({ 'x-forgejo-signature': 'x', 'x-gitea-signature': hex }))).to.equal(
      false,
    );
  });

  it('is the password of Azure DevOps, which does not sign, whoever the user is', () => {
    const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` });
    for (const user of ['', 'headgate', 'a b'])
      expect(isSigned('azure-devops', 's:ecret', call(basic(`${user}:s:ecret`))), user).to.equal(true);
    for (const text of ['s:ecret', ':s', 'headgate:', '', ':s:ecret2'])
      expect(isSigned('azure-devops', 's:ecret', call(basic(text))), text).to.equal(false);
    expect(isSigned('azure-devops', 's:ecret', call({ authorization: 'Bearer s:ecret' }))).to.equal(false);
  });

  it('is of no use where it is empty, of another length, or twice', () => {
    for (const forge of FORGES)
      for (const value of ['', 'sha256=', 'sha1=00', 'x'.repeat(5_000)])
        for (const header of [
          'x-hub-signature-256',
          'x-hub-signature',
          'x-gitea-signature',
          'x-gitlab-token',
        ])
          expect(isSigned(forge, 'a secret', call({ [header]: value })), `${forge} ${header}`).to.equal(
            false,
          );
    const twice = { headers: { 'x-gitlab-token': ['a', 'a'] }, body: Buffer.alloc(0) };
    expect(isSigned('gitlab', 'a', twice as never)).to.equal(false);
  });

  it('holds for the body that was signed with the secret, and for nothing else', () => {
    fc.assert(
      fc.property(
        fc.string(),
        fc.string({ minLength: 1 }),
        fc.string(),
        fc.string({ minLength: 1 }),
        (body, secret, other, guess) => {
          const headers = {
            'x-hub-signature': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
          };
          expect(isSigned('bitbucket', secret, call(headers, body))).to.equal(true);
          expect(isSigned('bitbucket', secret, call(headers, other))).to.equal(
            Buffer.from(other).equals(Buffer.from(body)),
          );
          if (guess !== secret) expect(isSigned('bitbucket', guess, call(headers, body))).to.equal(false);
        },
      ),
    );
  });
});

describe('the id of a delivery', () => {
  it('is the one that the forge gives', () => {
    expect(deliveryIdOf('github', call({ 'x-github-delivery': 'a-1' }))).to.equal('a-1');
    expect(deliveryIdOf('gitea', call({ 'x-gitea-delivery': 'a-2' }))).to.equal('a-2');
    expect(deliveryIdOf('bitbucket', call({ 'x-request-uuid': 'a-3' }))).to.equal('a-3');
    expect(deliveryIdOf('bitbucket-data-center', call({ 'x-request-id': 'a-5' }))).to.equal('a-5');
    expect(deliveryIdOf('gitlab', call({ 'idempotency-key': 'a-4', 'x-gitlab-event-uuid': 'b' }))).to.equal(
      'a-4',
    );
  });

  it('tells calls of one event of GitLab apart by their content', () => {
    const headers = { 'x-gitlab-event-uuid': 'event', 'x-gitlab-webhook-uuid': 'hook' };
    const [first, same, other] = ['{"a":1}', '{"a":1}', '{"a":2}'].map((body) =>
      deliveryIdOf('gitlab', call(headers, body)),
    );
    expect(first).to.equal(same);
    expect(first).not.to.equal(other);
  });

  it('is the content where there is none, and short whatever is given', () => {
    for (const forge of FORGES) {
      const [one, two] = ['1', '2'].map((body) => deliveryIdOf(forge, call({}, body)));
      expect(one)
        .to.match(/^[0-9a-f]{64}$/)
        .and.not.equal(two);
      const odd = { 'x-github-delivery': 'x\n'.repeat(9_000) };
      expect(
        deliveryIdOf(forge, call({ ...odd, 'x-gitea-delivery': odd['x-github-delivery'] })).length,
      ).to.be.at.most(128);
    }
  });

  it('is taken from GitLab’s signing token as Standard Webhooks have it, for five minutes', () => {
    // The example of the standard's own libraries.
    const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
    const headers = {
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,b2xk v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    };
    const made = { headers, body: Buffer.from('{"test": 2432232314}') };
    const at = 1_614_265_330_000;
    expect(isSigned('gitlab', secret, made, at)).to.equal(true);
    expect(isSigned('gitlab', secret, made, at + 301_000), 'too old').to.equal(false);
    expect(isSigned('gitlab', secret, { ...made, body: Buffer.from('{"test": 1}') }, at)).to.equal(false);
    expect(isSigned('gitlab', 'whsec_another', made, at)).to.equal(false);
    const both = { ...headers, 'webhook-signature': 'v1,x', 'x-gitlab-token': secret };
    expect(isSigned('gitlab', secret, { ...made, headers: both }, at), 'a bad signature beside').to.equal(
      false,
    );
    expect(deliveryIdOf('gitlab', made)).to.equal('msg_p5jXN8AQM9LWM0D4loKWxJek');
  });

  it('is GitLab’s secret token where that is kept here, also of a webhook that has a signing token as well', () => {
    const secret = 'the-secret-token-of-it';
    const headers = { 'webhook-signature': 'v1,x', 'webhook-id': 'a', 'webhook-timestamp': '1614265330' };
    const made = { headers: { ...headers, 'x-gitlab-token': secret }, body: Buffer.from('{}') };
    expect(isSigned('gitlab', secret, made, 1_614_265_330_000)).to.equal(true);
    expect(isSigned('gitlab', secret, { ...made, headers }, 1_614_265_330_000)).to.equal(false);
  });

  for (const [forge, header, yes, no] of [
    [
      'github',
      'x-github-event',
      ['push', 'pull_request_review', 'merge_group'],
      ['star', 'ping', 'workflow_run', 'pull_request_review_comment', 'pull_request_review_thread'],
    ],
    ['gitlab', 'x-gitlab-event', ['Push Hook', 'Merge Request Hook'], ['Note Hook', 'Pipeline Hook']],
    ['gitea', 'x-gitea-event', ['push', 'pull_request_sync'], ['issues', 'release', 'pull_request_comment']],
    [
      'bitbucket',
      'x-event-key',
      ['repo:push', 'pullrequest:fulfilled'],
      ['issue:created', 'repo:fork', 'pullrequest:comment_created'],
    ],
    [
      'bitbucket-data-center',
      'x-event-key',
      ['repo:refs_changed', 'pr:merged', 'pr:from_ref_updated'],
      ['diagnostics:ping', 'repo:forked', 'pr:comment:added'],
    ],
  ] as const)
    it(`of ${forge} isRelevantEvent for what is looked at here, and where it does not say what it is`, () => {
      for (const event of yes) expect(isRelevantEvent(forge, { [header]: event }), event).to.equal(true);
      for (const event of no) expect(isRelevantEvent(forge, { [header]: event }), event).to.equal(false);
      expect(isRelevantEvent(forge, {})).to.equal(true);
    });
});
