import { expect } from 'chai';
import {
  fieldWord,
  outcomeText,
  promoteWord,
  targetsOf,
} from '../../../web/src/features/pipeline/promote/promote-text.ts';

const PULL_REQUEST = {
  number: 12,
  state: 'open',
  forge: 'headgate',
  url: 'http://localhost/e/x/promotions/12',
  check: null,
} as const;
const waits = (status: 'PENDING' | 'AWAITING_PR_MERGE') => ({
  id: 'one',
  status,
  pullRequest: status === 'PENDING' ? null : PULL_REQUEST,
});
const INTO = { target: 'production', branch: 'main', nodes: 3 };

describe('a promotion in words', () => {
  const rows = [
    {
      reason: 'git describes the target',
      found: { outcome: 'AWAITING_PR_MERGE', waiting: null },
      words:
        'Opens a pull request against main of production. Nothing changes in production before it is merged.',
      button: 'Open a pull request',
    },
    {
      reason: 'a pull request is open already',
      found: { outcome: 'AWAITING_PR_MERGE', waiting: waits('AWAITING_PR_MERGE') },
      words:
        'Goes on with pull request #12 against main of production: it is brought up to date. Nothing changes in production before it is merged.',
      button: 'Update pull request #12',
    },
    {
      reason: 'the target asks for a second person',
      found: { outcome: 'PENDING', waiting: null },
      words:
        'Waits for another member of the team: once somebody else approves, it is deployed to production on 3 nodes.',
      button: 'Ask for approval',
    },
    {
      reason: 'a request waits already',
      found: { outcome: 'PENDING', waiting: waits('PENDING') },
      words:
        'Renews the request that waits for another member of the team: once somebody else approves, it is deployed to production on 3 nodes.',
      button: 'Renew the request',
    },
    {
      reason: 'nobody is asked',
      found: { outcome: 'DEPLOYED', waiting: null },
      words: 'Deploys at once to production on 3 nodes: nobody has to approve what is promoted there.',
      button: 'Deploy to production',
    },
  ] as const;
  for (const { reason, found, words, button } of rows) {
    it(`says what becomes of it where ${reason}`, () => {
      expect(outcomeText(found, INTO)).to.equal(words);
      expect(promoteWord(found, 'production')).to.equal(button);
    });
  }

  it('leaves out what is not known yet', () => {
    const unknown = { target: 'lab', branch: null, nodes: null };
    expect(outcomeText({ outcome: 'DEPLOYED', waiting: null }, unknown)).to.contain('at once to lab:');
    expect(outcomeText({ outcome: 'AWAITING_PR_MERGE', waiting: null }, unknown)).to.contain('against lab.');
  });

  it('names a field as its manifest does', () => {
    expect(fieldWord('/spec/nodeSelector')).to.equal('nodeSelector');
    expect(fieldWord('/spec/transforms/parse/source')).to.equal('transforms.parse.source');
    expect(fieldWord('/metadata/labels/a~1b')).to.equal('metadata.labels.a/b');
  });
});

describe('where a pipeline is promoted to', () => {
  const environment = (name: string) => ({
    id: name,
    name,
    teamId: 'ours',
    secretBackend: 'BUILTIN' as const,
    gitMode: 'off' as const,
    nodeCount: 1,
    pipelineCount: 1,
    createdAt: new Date(0),
  });
  const all = ['lab', 'staging', 'production'].map(environment);

  it('is the next environment of the team, and any other may be chosen', () => {
    const { targets, next } = targetsOf(all, 'staging');
    expect(targets.map(({ name }) => name)).to.deep.equal(['lab', 'production']);
    expect(next?.name).to.equal('production');
  });

  it('is the first one from the last, and none where there is no other', () => {
    expect(targetsOf(all, 'production').next?.name).to.equal('lab');
    expect(targetsOf(all.slice(0, 1), 'lab')).to.deep.equal({ targets: [], next: undefined });
  });
});
