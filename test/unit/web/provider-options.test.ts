/** What else is said of a provider, as it is typed and as it is sent. */
import { expect } from 'chai';
import { withParameters } from '../../../web/src/api/sign-in-url.ts';
import {
  groupsDraft,
  groupsInput,
  problemOfPatterns,
} from '../../../web/src/features/settings/single-sign-on/groups-draft.ts';
import {
  NO_OPTIONS,
  optionsDraft,
  optionsInput,
  problemOfOptions,
} from '../../../web/src/features/settings/single-sign-on/options-draft.ts';

describe('the draft of what else is said of a provider', () => {
  it('is the same after a round trip', () => {
    const options = {
      ...NO_OPTIONS,
      ...{ extraParameters: { hd: 'example.org', a: 'b=c' }, allowedGroups: ['/staff', '/x/y'] },
      ...{ allowedDomains: ['example.org'], superAdminGroups: ['/ops'], verifiesEmails: true },
    };
    expect(optionsInput(optionsDraft(options))).to.deep.equal(options);
  });

  it('is sent without blank lines, and says what is no parameter', () => {
    const draft = { ...optionsDraft(NO_OPTIONS), allowedGroups: ' /staff \n\n', extraParameters: ' a = b ' };
    expect(optionsInput(draft)).to.deep.include({ allowedGroups: ['/staff'], extraParameters: { a: 'b' } });
    expect(problemOfOptions(draft)).to.equal('');
    expect(problemOfOptions({ ...draft, extraParameters: 'a b' })).to.match(/name=value/);
  });

  it('writes a pattern behind its role', () => {
    const view = {
      ...{ mappings: [], ambiguities: [], defaultTeamId: null, defaultRole: 'VIEWER' as const },
      ...{
        groupSyncEnabled: true,
        groupsScope: null,
        groupsClaim: null,
        adminGroups: null,
        editorGroups: null,
      },
      patterns: [{ pattern: '/(?<team>.+)/a b', role: 'EDITOR' as const }],
    };
    const draft = groupsDraft(view);
    expect(draft.patterns).to.equal('EDITOR /(?<team>.+)/a b');
    expect(groupsInput(draft).patterns).to.deep.equal(view.patterns);
    expect(problemOfPatterns('/(?<team>.+)/editors')).to.match(/^Write the role first/);
    expect(problemOfPatterns('')).to.equal('');
  });

  it('adds parameters to an address that has some already', () => {
    expect(withParameters('/login', { next: '/a b' })).to.equal('/login?next=%2Fa+b');
    expect(withParameters('/login?provider=x', { next: '/' })).to.equal('/login?provider=x&next=%2F');
    expect(withParameters('/login', {})).to.equal('/login');
  });
});
