import { expect } from 'chai';
import { versionForNode } from '../../../controller/fleet/status/version-for-node.ts';
import { matchesSelector } from '../../../schemas/pipelines/selector.ts';

describe('which nodes run a pipeline', () => {
  const rows: [
    reason: string,
    selector: Record<string, string> | null,
    labels: Record<string, string>,
    matches: boolean,
  ][] = [
    ['there is no selector', null, {}, true],
    ['the selector is empty', {}, {}, true],
    ['it carries every pair and more', { role: 'edge' }, { role: 'edge', region: 'eu' }, true],
    ['one pair differs', { role: 'edge', region: 'eu' }, { role: 'edge', region: 'us' }, false],
    ['it lacks one', { role: 'edge' }, {}, false],
    ['values differ in case', { role: 'edge' }, { role: 'Edge' }, false],
    ['the selector asks for an empty value that is absent', { role: '' }, {}, false],
  ];
  for (const [reason, selector, labels, matches] of rows)
    it(`${matches ? 'takes' : 'leaves out'} a node where ${reason}`, () =>
      expect(matchesSelector(selector, labels)).to.equal(matches));

  const deployed = {
    ...{ isDraft: false, deployedVersionId: 'v2', deployedSelector: { role: 'edge' } },
    rollout: null,
  };
  const node = { labels: { role: 'edge' }, maintenance: false };
  const versions: [reason: string, version: string | null, got: string | null][] = [
    ['a node that matches', 'v2', versionForNode(deployed, node)],
    ['a node that does not match', null, versionForNode(deployed, { ...node, labels: {} })],
    ['a node in maintenance', null, versionForNode(deployed, { ...node, maintenance: true })],
    ['a draft', null, versionForNode({ ...deployed, isDraft: true }, node)],
    ['what was never deployed', null, versionForNode({ ...deployed, deployedVersionId: null }, node)],
  ];
  for (const [reason, version, got] of versions)
    it(`gives ${version ?? 'nothing'} to ${reason}`, () => expect(got).to.equal(version));
});
