/** Which errors mean that the database cannot be used at the moment. */
import { expect } from 'chai';
import { isConnectionLost, unlessAway } from '../../../controller/database/errors.ts';
import { conflict, DomainError } from '../../../controller/platform/operation/errors.ts';

const coded = (code: string, message = 'something') => Object.assign(new Error(message), { code });

describe('an error of the database', () => {
  const AWAY: readonly { reason: string; error: Error; says: RegExp }[] = [
    { reason: 'nobody listens', error: coded('ECONNREFUSED'), says: /does not answer/ },
    {
      reason: 'the connection was reset',
      error: coded('ECONNRESET', 'read ECONNRESET'),
      says: /does not answer/,
    },
    { reason: 'it ends', error: coded('57P01'), says: /does not answer/ },
    { reason: 'it crashed', error: coded('57P02'), says: /does not answer/ },
    { reason: 'it starts', error: coded('57P03'), says: /does not answer/ },
    { reason: 'it has no connection left', error: coded('53300'), says: /does not answer/ },
    {
      reason: 'a query broke off',
      error: new Error('select 1 - Connection terminated unexpectedly'),
      says: /does not answer/,
    },
    {
      reason: 'no connection came free',
      error: new Error('Knex: Timeout acquiring a connection. The pool is probably full.'),
      says: /does not answer/,
    },
    {
      reason: 'it is closed to new connections',
      error: Object.assign(new Error('database "headgate" is not currently accepting connections'), {
        code: '55000',
      }),
      says: /does not answer/,
    },
    { reason: 'its disk is full', error: coded('53100'), says: /disk of the database is full/ },
    {
      reason: 'a statement took too long',
      error: coded('57014'),
      says: /took too long .*waited for another change.*narrow a search/,
    },
    {
      reason: 'a limit of the role ended it',
      error: coded('25P03', 'terminating connection due to idle-in-transaction timeout'),
      says: /limit that is set for Headgate's role.*ALTER ROLE/,
    },
    { reason: 'two transactions waited for each other', error: coded('40P01'), says: /Try again/ },
  ];
  for (const { reason, error, says } of AWAY) {
    it(`is UNAVAILABLE where ${reason}`, () => {
      const answer = unlessAway(error);
      expect(answer).to.be.instanceOf(DomainError);
      expect(answer).to.include({ code: 'UNAVAILABLE', status: 503 });
      expect((answer as DomainError).message).to.match(says);
    });
  }

  it('says when to try again', () => {
    for (const { error } of AWAY)
      expect((unlessAway(error) as DomainError).details).to.have.property('retryAfterSeconds', 2);
  });

  it('leaves the outcome of a commit unknown only where the connection was lost', () => {
    const lost = AWAY.filter(({ error }) => isConnectionLost(error)).map(({ says }) => says.source);
    expect(new Set(lost)).to.deep.equal(new Set(['does not answer']));
    expect(isConnectionLost(Object.assign(coded('23503'), { detail: 'x is not present' }))).to.equal(false);
    for (const { error } of OTHERS) expect(isConnectionLost(error)).to.equal(false);
  });

  it('is NOT_FOUND where what a new row belongs to was deleted just now', () => {
    const detail = 'Key (environment_id)=(1) is not present in table "environments".';
    expect(unlessAway(Object.assign(coded('23503'), { detail }))).to.include({
      code: 'NOT_FOUND',
      status: 404,
    });
  });

  const OTHERS: readonly { reason: string; error: unknown }[] = [
    { reason: 'a constraint was broken', error: coded('23505') },
    {
      reason: 'what is still in use was to be deleted',
      error: Object.assign(coded('23503'), {
        detail: 'Key (id)=(1) is still referenced from table "pipelines".',
      }),
    },
    { reason: 'a statement is wrong', error: coded('42601', 'select Connection terminated') },
    { reason: 'the client went away while it sent', error: coded('ECONNRESET', 'aborted') },
    { reason: 'a use case refused', error: conflict('no') },
    { reason: 'it is no error', error: 'text' },
  ];
  for (const { reason, error } of OTHERS) {
    it(`stays what it is where ${reason}`, () => {
      expect(unlessAway(error)).to.equal(error);
    });
  }
});
