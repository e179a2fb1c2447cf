/** Silences that git describes: made, changed, deleted, restored and adopted like the objects of the other kinds. */
import { expect } from 'chai';
import { gitSyncOverrides } from '../../../controller/delivery/bindings/index.ts';
import { idleManifest } from '../../support/fixtures/pipelines.ts';
import { reportLines, reportText } from '../../support/scenes/bound-environment.ts';
import { useBoundEnvironment, useReconcileScene } from '../../support/scenes/reconcile.ts';

const HOUR_MS = 3_600_000;
/** Some hours from now. */
const at = (hours: number) => new Date(Date.now() + hours * HOUR_MS).toISOString();
const silence = (name: string, spec: string, metadata = '') => `apiVersion: headgate/v1
kind: Silence
metadata: { name: ${name}${metadata} }
spec:
  matchers: { rack: r7 }
  reason: disks are replaced
${spec}`;
const until = (endsAt: string) => `  endsAt: ${endsAt}\n`;

interface Row {
  id: string;
  name: string;
  managed_by: string;
  matchers: object;
  starts_at: Date;
  ends_at: Date;
  created_at: Date;
  tombstoned_at: Date | null;
}

describe('silences in git', () => {
  const scene = useReconcileScene();
  const env = useBoundEnvironment(scene);
  const rows = (): Promise<Row[]> =>
    scene.db('alert_silences').where({ environment_id: env.id }).orderBy('name');
  const row = async (name: string): Promise<Row> => {
    const found = (await rows()).find((one) => one.name === name);
    if (!found) throw new Error(`there is no silence ${name}`);
    return found;
  };
  const byUi = (id: string, more: object = {}) =>
    scene.db('alert_silences').insert({
      ...{ id, environment_id: env.id, name: id, reason: 'by hand', matchers: '{"rack":"r1"}' },
      ...{ starts_at: new Date(at(-1)), ends_at: new Date(at(9)) },
      ...more,
    });

  it('are made with labels, reason and period; one that says nothing of its start begins now', async () => {
    const [start, end] = [at(1), at(2)];
    const result = await env.apply({
      now: silence('now', until(end), ', labels: { team: web }'),
      later: silence('later', `  startsAt: "${start}"\n  endsAt: ${end}\n`),
    });
    expect(reportLines(result).slice(1)).to.deep.equal([
      `  + later: created, silence of rack=r7 until ${end}`,
      `  + now: created, silence of rack=r7 until ${end}`,
    ]);
    const now = await row('now');
    expect(now).to.deep.include({ managed_by: 'git', matchers: { rack: 'r7' }, labels: { team: 'web' } });
    expect(now.ends_at.toISOString()).to.equal(end);
    expect(now.starts_at).to.deep.equal(now.created_at);
    expect(Math.abs(now.starts_at.getTime() - Date.now())).to.be.below(HOUR_MS);
    expect((await row('later')).starts_at.toISOString()).to.equal(start);
    expect((await env.pass()).outcome).to.equal('unchanged');
    expect(
      await scene.db('audit_log').where({ environment_id: env.id, entity_type: 'Silence' }).pluck('action'),
    ).to.deep.equal(['silence.created', 'silence.created']);
  });

  it('keep their start when the end changes, are renamed by uid, go and come back with their id', async () => {
    await env.apply({ s: silence('disks', until(at(1)), ', uid: S1') });
    const { id, starts_at } = await row('disks');
    const end = at(3);
    await env.apply({ s: silence('all disks', until(end), ', uid: S1') });
    expect(await row('all disks')).to.deep.include({ id, starts_at, ends_at: new Date(end) });
    await env.apply({ s: null, web: idleManifest('web') });
    expect((await row('all disks')).tombstoned_at).to.be.instanceOf(Date);
    const back = await env.apply({ s: silence('all disks', until(end), ', uid: S1') });
    expect(back.counts).to.include({ restored: 1 });
    expect(await row('all disks')).to.deep.include({ id, starts_at, tombstoned_at: null });
  });

  it('are set back where SQL changed a column', async () => {
    await env.apply({ s: silence('disks', until(at(1))) });
    await scene.db('alert_silences').where({ name: 'disks' }).update({ matchers: '{}' });
    const result = await env.pass();
    expect(reportText(result)).to.include('disks: set back to what git says');
    expect((await row('disks')).matchers).to.deep.equal({ rack: 'r7' });
    expect((await env.pass()).outcome).to.equal('unchanged');
  });

  it('are refused with file and line where the period is none', async () => {
    const [early, late, far] = [at(1), at(2), at(24 * 367)];
    const result = await env.apply({
      a: silence('a', `  startsAt: ${late}\n  endsAt: ${early}\n`),
      b: silence('b', `  startsAt: ${early}\n  endsAt: ${early}\n`),
      c: silence('c', until(far)),
      good: silence('good', until(late)),
    });
    expect(result.counts).to.include({ created: 1, refused: 3 });
    const errors = (await env.importErrors()).map(({ path, line, stage, message, hint }) => [
      path.split('/').at(-1),
      line,
      stage,
      message,
      hint,
    ]);
    const order = 'Write a later endsAt, or an earlier startsAt.';
    expect(errors).to.deep.equal([
      [
        ...['a.yaml', 8, 'schema'],
        ...[`\`spec.endsAt\` (${early}) is not after \`spec.startsAt\` (${late})`, order],
      ],
      [
        ...['b.yaml', 8, 'schema'],
        ...[`\`spec.endsAt\` (${early}) is not after \`spec.startsAt\` (${early})`, order],
      ],
      [
        ...['c.yaml', 7, 'schema'],
        `\`spec.endsAt\` (${far}) lies more than 366 days ahead`,
        'Write an earlier endsAt; a rule that is to be quiet for longer is disabled with `enabled: false`.',
      ],
    ]);
  });

  it('that had ended before git brought them are there, mute nothing, and say so', async () => {
    const end = '2024-05-01T12:00:00Z';
    const result = await env.apply({ old: silence('old', until(end)) });
    expect(result.counts).to.include({ created: 1, refused: 0 });
    expect(reportText(result)).to.include(`it ended at ${end} and mutes nothing`);
    expect((await row('old')).ends_at).to.deep.equal(new Date(end));
    // Extended, it mutes from then on.
    expect((await env.apply({ old: silence('old', until(at(5))) })).counts).to.include({ changed: 1 });
    expect((await row('old')).ends_at.getTime()).to.be.above(Date.now());
  });

  it('leave those of the UI alone, whatever git has', async () => {
    await byUi('hand');
    await byUi('ended', { ends_at: new Date(at(-0.5)) });
    await env.apply({ web: idleManifest('web'), s: silence('disks', until(at(1))) });
    await env.apply({ s: null });
    const states = (await rows()).map(({ name, managed_by, tombstoned_at }) => [
      name,
      managed_by,
      tombstoned_at === null,
    ]);
    expect(states).to.deep.equal([
      ['disks', 'git', false],
      ['ended', 'ui', true],
      ['hand', 'ui', true],
    ]);
  });

  it('take over one of the UI by its id, or by name once somebody lets them', async () => {
    await byUi('first');
    await byUi('second');
    const result = await env.apply({
      a: silence('hours', until(at(1)), ', uid: first'),
      b: silence('second', until(at(1))),
    });
    expect(result.counts).to.include({ refused: 1 });
    expect(await row('hours')).to.deep.include({
      ...{ id: 'first', managed_by: 'git' },
      matchers: { rack: 'r7' },
    });
    expect(await env.condition('second', 'Applied')).to.include({ status: 'False', reason: 'Conflict' });
    expect((await env.condition('second', 'Applied')).message).to.include('a silence named "second"');
    expect(await row('second')).to.include({ managed_by: 'ui' });
    await env.execute(gitSyncOverrides.adopt, { kind: 'Silence', name: 'second' });
    await env.pass();
    expect(await row('second')).to.include({ id: 'second', managed_by: 'git' });
  });

  it('are not acted on where the policy lists the other kinds only, and go back to the UI with the policy', async () => {
    await env.setPolicy({ owns: ['Pipeline', 'AlertRule', 'NodeGroup'] });
    const first = await env.apply({ s: silence('disks', until(at(1))), web: idleManifest('web') });
    expect(first.counts).to.include({ created: 1, refused: 0 });
    expect(await rows()).to.deep.equal([]);
    await env.setPolicy({});
    expect((await env.pass()).counts).to.include({ created: 1 });
    await env.setPolicy({ owns: ['Pipeline'] });
    await env.pass();
    expect(await row('disks')).to.deep.include({ managed_by: 'ui', tombstoned_at: null });
  });
});
