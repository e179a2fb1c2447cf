import { expect } from 'chai';
import { NO_PROXIES } from '../../../controller/platform/net/proxies.ts';
import type { Caller } from '../../../controller/secrets/backends/http-call.ts';
import { createVaultSession } from '../../../controller/secrets/backends/vault-session.ts';
import { localGuard } from '../../support/fixtures/local-targets.ts';

const LOGINS = 200;

describe('a session with Vault', () => {
  it('remembers what must not be told of the last logins, and not of all', async () => {
    let logins = 0;
    // Every token is refused, so that each request logs in anew.
    const caller: Caller = {
      async call(path) {
        if (!path.endsWith('/login'))
          return { status: 403, body: { errors: ['permission denied', 'invalid token'] } };
        logins += 1;
        return {
          status: 200,
          body: { auth: { client_token: `token-${logins}-of-vault`, lease_duration: 60 } },
        };
      },
      close() {},
    };
    const auth = { method: 'kubernetes' as const, role: 'headgate-role' };
    const session = createVaultSession({ address: 'http://vault', mount: 'kv', auth } as never, caller, {
      serviceAccountToken: async () => `service-account-${logins}`,
      guard: localGuard(),
      proxies: NO_PROXIES,
    });
    while (logins < LOGINS) await session.ask('/v1/kv/data/x', { signal: new AbortController().signal });
    /** What is told of an answer that echoes the text. */
    const told = (text: string) =>
      session.errorFor({ status: 400, body: { errors: [text] } }, 'read').message;
    const secrets = [
      `token-${logins}-of-vault`,
      `token-${logins - 1}-of-vault`,
      `service-account-${logins - 1}`,
    ];
    for (const secret of secrets) expect(told(`no: ${secret}`), secret).to.not.include(secret);
    expect(told('no: token-1-of-vault')).to.include('token-1-of-vault');
  });
});
