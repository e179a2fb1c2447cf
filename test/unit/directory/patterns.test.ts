/** Patterns of group paths that name the team. */
import { expect } from 'chai';
import fc from 'fast-check';
import { grantsOf } from '../../../controller/identity/directory/grants.ts';
import {
  ambiguitiesOf,
  parsePattern,
  pathsEndingIn,
} from '../../../controller/identity/directory/team-patterns.ts';

const teamOf = (pattern: string, group: string): string | null => {
  const match = parsePattern(pattern);
  if (typeof match === 'string') throw new Error(match);
  return match(group);
};

describe('a pattern of group paths', () => {
  for (const [pattern, group, team] of [
    ['/(?<team>.+)/editors', '/data/editors', 'data'],
    ['/(?<team>.+)/editors', '/eu/data/editors', 'eu/data'],
    ['/(?<team>[^/]+)/editors', '/eu/data/editors', null],
    ['^/(?<team>[^/]+)/editors$', '/data/editors', 'data'],
    ['/(?<team>.+)/editors', '/data/editors/more', null],
    ['/.+/(?<team>[^/]+)/editors', '/eu/data/editors', 'data'],
    ['team.(?<team>[^/]+)', 'team.data', 'data'],
    ['team.(?<team>[^/]+)', 'teamxdata', null],
  ] as const)
    it(`${pattern} finds ${team ?? 'no team'} in ${group}`, () =>
      expect(teamOf(pattern, group)).to.equal(team));

  for (const [pattern, says] of [
    ['/data/editors', /write the team exactly once/],
    ['/(?<team>.+)/(?<team>.+)', /write the team exactly once/],
    ['/(?<team>.+)/.+/.+', /one more/],
    ['/(?<team>.+)/(a+)+', /plain text/],
    ['/(?<team>\\w+)', /write the team exactly once/],
    ['/(?<team>.+)|x', /plain text/],
  ] as const)
    it(`is not ${pattern}`, () => expect(parsePattern(pattern)).to.match(says));

  it('finds the team that a path was made of, whatever its letters are', () => {
    const name = fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 60 })
      .filter((text) => !/[/\n\r\u2028\u2029]/.test(text));
    fc.assert(
      fc.property(name, (team) => {
        expect(teamOf('/(?<team>[^/]+)/editors', `/${team}/editors`)).to.equal(team);
      }),
    );
  });

  it('leads nobody to a team to which several groups would lead', () => {
    const patterns = [{ pattern: '/.+/(?<team>[^/]+)/editors', role: 'EDITOR' as const }];
    const groups = ['/eu/data/editors', '/us/Data/editors', '/us/web/editors'];
    expect(ambiguitiesOf(patterns, groups)).to.deep.equal([
      {
        ...{ pattern: patterns[0]?.pattern, team: 'data' },
        groups: ['/eu/data/editors', '/us/Data/editors'],
      },
    ]);
    const rules = {
      ...{ mappings: [], defaultTeamId: null, defaultRole: null, adminGroups: [], editorGroups: [] },
      patterns: patterns.map(({ pattern, role }) => ({
        match: (group: string) => teamOf(pattern, group),
        ...{ role, ambiguous: new Set(['data']) },
      })),
      teamsByName: new Map([
        ['data', 'team-data'],
        ['web', 'team-web'],
      ]),
    };
    expect([...grantsOf({ groups, signsInByOidc: true }, rules)]).to.deep.equal([['team-web', 'EDITOR']]);
  });

  it('knows which paths a plain name may be meant for', () => {
    const groups = ['/data/editors', '/x/editors', 'leads', '/x/leads'];
    expect(pathsEndingIn('editors', groups)).to.deep.equal(['/data/editors', '/x/editors']);
    expect(pathsEndingIn('leads', groups), 'a group of its own').to.deep.equal([]);
    expect(pathsEndingIn('/data/editors', groups)).to.deep.equal([]);
  });
});
