import { expect } from 'chai';
import { versionForNode } from '../../../controller/fleet/status/version-for-node.ts';
import { matchesSelector } from '../../../schemas/pipelines/selector.ts';

describe('which nodes run a pipeline', () => {
  const rows: {
    reason: string;
    selector: Record<string, string> | null;
    labels: Record<string, string>;
    matches: boolean;
  }[] = [
    { reason: 'there is no selector', selector: null, labels: {}, matches: true },
    { reason: 'the selector is empty', selector: {}, labels: {}, matches: true },
    {
      reason: 'it carries every pair and more',
      selector: { role: 'edge' },
      labels: { role: 'edge', region: 'eu' },
      matches: true,
    },
    {
      reason: 'one pair differs',
      selector: { role: 'edge', region: 'eu' },
      labels: { role: 'edge', region: 'us' },
      matches: false,
    },
    { reason: 'it lacks one', selector: { role: 'edge' }, labels: {}, matches: false },
    { reason: 'values differ in case', selector: { role: 'edge' }, labels: { role: 'Edge' }, matches: false },
    {
      reason: 'the selector asks for an empty value that is absent',
      selector: { role: '' },
      labels: {},
      matches: false,
    },
  ];
  for (const { reason, selector, labels, matches } of rows)
    it(`${matches ? 'takes' : 'leaves out'} a node where ${reason}`, () =>
      expect(matchesSelector(selector, labels)).to.equal(matches));

  const deployed = {
    ...{ isDraft: false, deployedVersionId: 'v2', deployedSelector: { role: 'edge' } },
    rollout: null,
  };
  const node = { labels: { role: 'edge' }, maintenance: false };
  const versions: { reason: string; version: string | null; got: string | null }[] = [
    { reason: 'a node that matches', version: 'v2', got: versionForNode(deployed, node) },
    {
      reason: 'a node that does not match',
      version: null,
      got: versionForNode(deployed, { ...node, labels: {} }),
    },
    {
      reason: 'a node in maintenance',
      version: null,
      got: versionForNode(deployed, { ...node, maintenance: true }),
    },
    { reason: 'a draft', version: null, got: versionForNode({ ...deployed, isDraft: true }, node) },
    {
      reason: 'what was never deployed',
      version: null,
      got: versionForNode({ ...deployed, deployedVersionId: null }, node),
    },
  ];
  for (const { reason, version, got } of versions)
    it(`gives ${version ?? 'nothing'} to ${reason}`, () => expect(got).to.equal(version));
});
