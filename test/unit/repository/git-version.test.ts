/** Which git keeps to the address that was checked. */
import { expect } from 'chai';
import { createPinCheck } from '../../../controller/delivery/repository/process/git-version.ts';
import { RepositoryError } from '../../../controller/delivery/repository/repository-error.ts';

describe('the git of the controller', () => {
  const refusal = (told: string) =>
    createPinCheck()(async () => told).then(
      () => null,
      (error: unknown) => error as RepositoryError,
    );

  for (const told of ['git version 2.37.0\n', 'git version 2.39.5 (Apple Git-154)\n', 'git version 3.0.1\n'])
    it(`may ask servers over http: ${told.trim()}`, async () => expect(await refusal(told)).to.equal(null));

  for (const told of ['git version 2.36.6\n', 'git version 2.9.5\n', 'git version 1.99\n', 'nonsense', ''])
    it(`may not ask them, and says what to do: ${told.trim() || 'nothing said'}`, async () => {
      const refused = await refusal(told);
      expect(refused).to.be.instanceOf(RepositoryError);
      expect(refused?.fault).to.equal('program');
      expect(refused?.message).to.match(/need git 2\.37 or newer on the controller, .*; update it/);
    });

  it('is asked for its version until it is new enough, and then no more', async () => {
    const check = createPinCheck();
    const versions = ['git version 2.36.0', 'git version 2.37.0'];
    const ask = async () => versions.shift() ?? 'nobody asks again';
    const first = await check(ask).catch((error: Error) => error.name);
    expect(first).to.equal('RepositoryError');
    for (let n = 0; n < 3; n++) await check(ask);
    expect(versions).to.deep.equal([]);
  });
});
