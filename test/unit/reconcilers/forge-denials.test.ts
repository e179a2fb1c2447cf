/** What people are advised to do where a forge does not allow something: by the headers and bodies that forges send. */
import { expect } from 'chai';
import { faultOf } from '../../../reconcilers/forges/transport/faults.ts';

const told = (status: number, body: unknown, headers: Record<string, string> = {}) => {
  const { fault, message } = faultOf({
    ...{ label: 'GitHub at api.github.com', status, headers: new Headers(headers) },
    ...{ text: JSON.stringify(body), redact: (text: string) => text },
    ...{ now: 0, usualWaitMs: 60_000 },
  });
  return `${fault}: ${message}`;
};

describe('a refusal of a forge', () => {
  it('of an archived repository says to unarchive it', () => {
    const body = { message: 'Repository was archived so is read-only.', status: '403' };
    expect(told(403, body)).to.match(
      /^refused: GitHub .* has archived the project, .* unarchive it, or set forge to none/,
    );
  });

  it('for single sign-on names the page where the token is authorized, and no other address', () => {
    const body = { message: 'Resource protected by organization SAML enforcement.' };
    const page = 'https://github.com/orgs/acme/sso?authorization_request=AZSC';
    expect(told(403, body, { 'x-github-sso': `required; url=${page}` })).to.include(
      `single sign-on of the organization at ${page}`,
    );
    for (const bad of ['javascript:alert(1)', 'https://u:p@evil.example/', 'x'.repeat(600)])
      expect(told(403, body, { 'x-github-sso': `required; url=${bad}` })).to.include('Configure SSO');
  });

  it('by an IP allow list says to add the controller there', () => {
    const body = {
      message:
        'Although you appear to have the correct authorization credentials, the `acme` organization has an IP allow list enabled, and your IP address is not permitted to access this resource.',
    };
    expect(told(403, body)).to.match(/^credentials: .* add it to the IP allow list of the organization/);
  });

  it('for a missing permission names it', () => {
    const body = { message: 'Resource not accessible by personal access token' };
    const headers = { 'x-accepted-github-permissions': 'issues=write; pull_requests=write' };
    expect(told(403, body, headers)).to.include('it needs issues: write or pull_requests: write');
    const sets = { 'x-accepted-github-permissions': 'pull_requests=write,contents=read; issues=write' };
    expect(told(403, body, sets)).to.include(
      'it needs pull_requests: write and contents: read or issues: write',
    );
    expect(told(403, body, { 'x-accepted-github-permissions': '<b>' })).to.include('give one that may write');
  });

  it('of a locked conversation is no fault of the token', () => {
    expect(told(403, { message: 'Unable to create comment because issue is locked.' })).to.match(
      /^refused: .* has locked this conversation; unlock it there/,
    );
  });

  it('by 410 says what may be switched off', () => {
    expect(told(410, { message: 'Issues are disabled for this repo' })).to.match(
      /^not-found: .* has it no more \(Issues are disabled for this repo\).* switch them on/,
    );
  });

  it('of a field names the field', () => {
    const body = {
      message: 'Validation Failed',
      errors: [
        { resource: 'Status', field: 'description', code: 'too_long' },
        { resource: 'PullRequest', code: 'custom', message: 'No commits between main and topic' },
      ],
    };
    expect(told(422, body)).to.equal(
      'refused: GitHub at api.github.com refuses with status 422 (Validation Failed; Status description too_long; No commits between main and topic)',
    );
  });
});
