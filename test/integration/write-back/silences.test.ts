/** A silence that git describes and somebody ends: by the policy an error, a commit, or a proposal. */
import { expect } from 'chai';
import type { ExportedManifests } from '../../../schemas/api/delivery/git-words.ts';
import type { AlertSilence } from '../../../schemas/api/insight/alerts.ts';
import { git } from '../../support/clients/fast-import.ts';
import { useController } from '../../support/harness/controller.ts';
import { until } from '../../support/harness/until.ts';
import { useGitBinding } from '../../support/scenes/git-binding.ts';
import { refusal, useTestEnvironments } from '../../support/scenes/places.ts';

const HOUR_MS = 3_600_000;
const at = (hours: number) => new Date(Date.now() + hours * HOUR_MS).toISOString().replace(/\.\d+Z/, 'Z');
const END = at(5);
const silence = (name: string, more = '') => `apiVersion: headgate/v1
kind: Silence
metadata: { name: ${name} } # by the data centre
spec:
  matchers: { rack: r7, node: "edge-*" }
  reason: 'disks are replaced'
${more}  endsAt: "${END}"   # two blanks too many
`;
const LATER = silence('later', `  startsAt: ${at(1)}\n`);
const FILES = { 'alerts/quiet.yaml': silence('disks'), 'alerts/later.yaml': LATER };

interface Became {
  committed: { sha: string; path: string; line: number };
  proposed: { number: number; branch: string };
}

describe('a silence that git describes', () => {
  const test = useController();
  const places = useTestEnvironments(test);
  const place = useGitBinding(test, places, FILES);
  const end = <Answer = Became>(id: string) => place.editor.mutate<Answer>('alert.endSilence', { id });
  const list = () =>
    place.viewer.query<AlertSilence[]>('alert.listSilences', { environmentId: place.environmentId });
  const find = async (name: string) => (await list()).find((one) => one.name === name);
  const changed = (sha: string) =>
    git(place.gitdir, 'show', '--format=', '--unified=0', sha)
      .split('\n')
      .filter((line) => /^[-+](?![-+])/.test(line));

  it('is listed with its manifest, and is ended in git alone where nothing else is said', async () => {
    expect(await find('disks')).to.deep.include({
      ...{ managedBy: 'git', status: 'active', createdBy: null, reason: 'disks are replaced' },
      matchers: { rack: 'r7', node: 'edge-*' },
    });
    expect((await find('disks'))?.git).to.deep.include({
      path: `${place.folder}/alerts/quiet.yaml`,
      line: 1,
    });
    expect((await find('later'))?.status).to.equal('scheduled');
    const id = await place.idOf('alert_silences', 'disks');
    expect(await refusal(place.editor, 'mutation', 'alert.endSilence', { id })).to.equal(
      `PRECONDITION_FAILED: The silence "disks" is described in git (${place.folder}/alerts/quiet.yaml:1); change it there and push, and it follows`,
    );
    expect((await find('disks'))?.status).to.equal('active');
  });

  it('is exported as it was written, and those that have ended are not', async () => {
    const { environmentId } = place;
    const wanted = {
      ...{ environmentId, reason: 'by hand', matchers: { rule: 'CPU' } },
      ...{ startsAt: at(2), endsAt: at(3) },
    };
    const hand = await place.editor.mutate<AlertSilence>('alert.createSilence', wanted);
    const over = await place.editor.mutate<AlertSilence>('alert.createSilence', {
      ...{ environmentId, reason: 'over', matchers: { rule: 'CPU' }, endsAt: at(3) },
    });
    await end<AlertSilence>(over.id);
    const { files, skipped } = await place.editor.query<ExportedManifests>('gitSync.export', {
      environmentId,
      kinds: ['Silence'],
    });
    expect(skipped).to.deep.equal([]);
    const id = await place.idOf('alert_silences', 'disks');
    const text = (path: string) =>
      files
        .find((one) => one.path === path)
        ?.text.split('\n')
        .slice(1)
        .join('\n');
    expect(files.map(({ path }) => path).sort()).to.deep.equal([
      'silences/disks.yaml',
      'silences/later.yaml',
      `silences/silence-${hand.id.toLowerCase()}.yaml`,
    ]);
    expect(text('silences/disks.yaml')).to.equal(`apiVersion: headgate/v1
kind: Silence
metadata:
  name: disks
  uid: ${id}
spec:
  matchers:
    node: edge-*
    rack: r7
  reason: disks are replaced
  endsAt: ${END}
`);
    expect(text(`silences/silence-${hand.id.toLowerCase()}.yaml`)).to.contain(
      `  startsAt: ${wanted.startsAt}\n  endsAt: ${wanted.endsAt}\n`,
    );
  });

  it('is ended by a proposal', async () => {
    await place.policy({ uiEdits: 'propose' });
    const { proposed } = await end(await place.idOf('alert_silences', 'disks'));
    expect(proposed.branch).to.match(/^headgate\/silence\/disks-[0-9a-z]{8}$/);
    expect(place.read('alerts/quiet.yaml', proposed.branch)).not.to.contain(END);
    expect((await find('disks'))?.status).to.equal('active');
  });

  it('wakes the evaluation of its environment when it is applied', async () => {
    const woken: string[] = [];
    const { bus } = test.controller.systemContext('test').services;
    const stop = bus.on('wake', ({ loop, key }) => {
      if (loop === 'alerts') woken.push(key);
    });
    await place.apply({ 'alerts/quiet.yaml': silence('disks').replace('r7', 'r8') });
    await until(async () => woken.includes(place.environmentId), { what: 'the loop of alerts was woken' });
    stop();
  });

  it('is ended by a commit of its end alone', async () => {
    await place.policy({ uiEdits: 'commit' });
    const id = await place.idOf('alert_silences', 'disks');
    const { committed } = await end(id);
    const [before, after] = changed(committed.sha);
    expect(before).to.equal(`-  endsAt: "${END}"   # two blanks too many`);
    expect(after).to.match(/^\+ {2}endsAt: "20\d\d-[0-9TZ:.-]+" {3}# two blanks too many$/);
    expect(git(place.gitdir, 'log', '-1', '--format=%B')).to.equal(
      'Change endsAt of the silence disks\n\nHeadgate-Operation: alert.endSilence',
    );
    await place.applied(committed.sha);
    const ended = await find('disks');
    expect(ended).to.include({ id, status: 'ended', managedBy: 'git' });
    // Again: nothing is left to do.
    expect(await end<AlertSilence>(id)).to.deep.equal(ended);
    expect(place.head()).to.equal(committed.sha);
  });

  it('that has not begun is taken out of git', async () => {
    await place.policy({ uiEdits: 'commit' });
    const { committed } = await end(await place.idOf('alert_silences', 'later'));
    expect(git(place.gitdir, 'log', '-1', '--format=%s')).to.equal('Delete the silence later');
    expect(changed(committed.sha)).to.deep.equal(
      LATER.trimEnd()
        .split('\n')
        .map((line) => `-${line}`),
    );
    await until(async () => (await find('later')) === undefined, { what: 'it to be pruned' });
  });
});
