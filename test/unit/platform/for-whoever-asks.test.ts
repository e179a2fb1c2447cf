import { expect } from 'chai';
import { toUserRetryMessage } from '../../../controller/platform/operation/user-retry-message.ts';

describe('what is wrong elsewhere, told to whoever asks', () => {
  for (const [told, here] of [
    [
      'git.example.org is too slow: 10 s; it is tried again by itself',
      'git.example.org is too slow: 10 s; try again',
    ],
    [
      'GitHub answers with status 502; it is asked again by itself',
      'GitHub answers with status 502; try again',
    ],
    [
      'GitHub was asked too often; it is asked again at 10:04 UTC',
      'GitHub was asked too often; try again at 10:04 UTC',
    ],
    ['GitHub was asked too often; it is asked again later', 'GitHub was asked too often; try again later'],
    [
      'the token has no scope "repo"; make one that has it',
      'the token has no scope "repo"; make one that has it',
    ],
  ] as const)
    it(`says “${here}”`, () => expect(toUserRetryMessage(told)).to.equal(here));
});
