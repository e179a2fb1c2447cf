/** Why buttons are disabled: by the role of a user, and by what git describes. */
import { expect } from 'chai';
import { ADMIN_REASON, whyNot } from '../../../web/src/app/permissions.ts';
import {
  deployFixed,
  GIT_REASON,
  VIEWER_REASON,
  whyFixed,
} from '../../../web/src/features/pipelines/actions/fixed-reason.ts';

describe('what a role may do', () => {
  const admin = /^Your role here is VIEWER\. Changes need ADMIN:/;
  for (const [role, needs, says] of [
    ['VIEWER', 'EDITOR', VIEWER_REASON],
    ['VIEWER', 'ADMIN', admin],
    ['EDITOR', 'EDITOR', null],
    ['EDITOR', 'ADMIN', ADMIN_REASON],
    ['ADMIN', 'EDITOR', null],
    ['ADMIN', 'ADMIN', null],
  ] as const)
    it(`is what needs ${needs} for ${role}: ${says === null ? 'yes' : 'no, and why'}`, () => {
      const reason = whyNot(role, needs);
      if (says instanceof RegExp) expect(reason).to.match(says);
      else expect(reason).to.equal(says);
    });
});

describe('whether a pipeline may be changed here', () => {
  for (const [role, managedBy, edits, says] of [
    ['EDITOR', 'ui', 'refuse', null],
    ['VIEWER', 'ui', 'refuse', VIEWER_REASON],
    ['ADMIN', 'git', 'refuse', GIT_REASON],
    ['VIEWER', 'git', 'refuse', GIT_REASON],
    ['EDITOR', 'git', 'propose', null],
    ['VIEWER', 'git', 'commit', VIEWER_REASON],
  ] as const)
    it(`by ${role}, described in ${managedBy}, where edits are to ${edits}`, () =>
      expect(whyFixed(role, managedBy, edits)).to.equal(says));

  it('or deployed: of what git describes, only what it keeps as a draft', () => {
    expect(deployFixed(null, { managedBy: 'git', isDraft: false })).to.match(/follows git/);
    expect(deployFixed(null, { managedBy: 'git', isDraft: true })).to.equal(null);
    expect(deployFixed(null, { managedBy: 'ui', isDraft: false })).to.equal(null);
    expect(deployFixed(VIEWER_REASON, { managedBy: 'ui', isDraft: true })).to.equal(VIEWER_REASON);
  });
});
