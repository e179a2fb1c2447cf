/** Alert events and silences as users see them, of rules that the controller evaluates by itself. */
import { expect } from 'chai';
import type {
  AlertEvent,
  AlertEventDetail,
  AlertEventPage,
  AlertRule,
  AlertSilence,
  OpenAlertEvents,
} from '../../../schemas/api/insight/alerts.ts';
import { heartbeat } from '../../support/agents/agent-client.ts';
import { useController } from '../../support/harness/controller.ts';
import { until } from '../../support/harness/until.ts';
import { refusal } from '../../support/scenes/places.ts';
import { useTwoTeams } from '../../support/scenes/two-teams.ts';

const HOUR_MS = 3_600_000;
/** Holds whether the node answers or not. */
const ALWAYS = { metric: 'node_unreachable', condition: 'lt', threshold: 2, durationSeconds: 0 };

describe('alert events', function () {
  this.timeout(60_000);
  const test = useController();
  const teams = useTwoTeams(test);
  const place = () => ({ environmentId: teams.ours.environmentId, teamId: teams.ours.teamId });
  let made = 0;

  const heard = () =>
    teams.ours.node.heartbeat(
      heartbeat({ pipelines: [{ pipelineId: teams.ours.pipelineId, version: 1, status: 'RUNNING' }] }),
    );
  const createRule = (more: object = {}) =>
    teams.editor.mutate<AlertRule>('alert.createRule', {
      ...place(),
      name: `rule ${++made}`,
      ...ALWAYS,
      ...more,
    });
  const list = (filter: object = {}) =>
    teams.viewer.query<AlertEventPage>('alert.listEvents', {
      environmentId: teams.ours.environmentId,
      ...filter,
    });
  const get = (id: string) => teams.viewer.query<AlertEventDetail>('alert.getEvent', { id });
  /** The event of a rule once it is as wanted. */
  const eventOf = async (ruleId: string, isWanted: (event: AlertEvent) => boolean = () => true) => {
    const wanted = async () => (await list({ ruleId })).events.find(isWanted);
    await until(async () => (await wanted()) !== undefined, { what: 'the event' });
    return (await wanted())!;
  };
  const silence = (more: object = {}) => ({
    ...{ environmentId: teams.ours.environmentId, matchers: { node: 'ours-node' } },
    ...{ reason: 'disks are replaced', endsAt: new Date(Date.now() + HOUR_MS).toISOString() },
    ...more,
  });
  const refused = (name: string, input: object) => refusal(teams.editor, 'mutation', name, input);

  before(heard);

  it('begin as soon as a rule is made whose condition holds, and end when it is deleted', async () => {
    const rule = await createRule();
    const event = await eventOf(rule.id);
    expect(event).to.deep.include({
      ...{ status: 'firing', ruleName: rule.name, nodeId: teams.ours.node.nodeId, nodeName: 'ours-node' },
      ...{ pipelineId: null, times: 1, resolvedAt: null, mutedBy: null, acknowledgedBy: null },
    });
    const rules = await teams.viewer.query<AlertRule[]>('alert.listRules', {
      environmentId: teams.ours.environmentId,
    });
    expect(rules.find(({ id }) => id === rule.id)?.evaluation).to.deep.include({
      ...{ series: 1, withValue: 1, firing: 1, pending: 0 },
    });
    await teams.editor.mutate('alert.deleteRule', { id: rule.id });
    const ended = await eventOf(rule.id, ({ status }) => status === 'resolved');
    expect(ended.resolvedReason).to.equal('its rule was deleted');
    expect((await get(ended.id)).changes.map(({ kind }) => kind)).to.deep.equal(['fired', 'resolved']);
  });

  it('are acknowledged by editors, once, with a note', async () => {
    const { id } = await eventOf((await createRule()).id);
    const answer = await teams.editor.mutate<AlertEvent>('alert.acknowledgeEvent', { id, note: ' on it ' });
    expect(answer).to.include({ status: 'acknowledged', acknowledgedBy: teams.editor.email });
    await teams.admin.mutate('alert.acknowledgeEvent', { id });
    const { changes, acknowledgedBy } = await get(id);
    expect(acknowledgedBy).to.equal(teams.editor.email);
    expect(changes.map(({ kind, note, userEmail }) => [kind, note, userEmail])).to.deep.equal([
      ['fired', null, null],
      ['acknowledged', 'on it', teams.editor.email],
    ]);
    expect(await refusal(teams.viewer, 'mutation', 'alert.acknowledgeEvent', { id })).to.match(/^FORBIDDEN/);
    const audit = await test.db('audit_log').where({ entity_id: id });
    expect(audit.map(({ action }) => action)).to.deep.equal(['alertEvent.acknowledged']);
  });

  it('that are resolved have nothing to be acknowledged', async () => {
    const rule = await createRule();
    const { id } = await eventOf(rule.id);
    await teams.editor.mutate('alert.updateRule', { id: rule.id, enabled: false });
    await eventOf(rule.id, ({ status }) => status === 'resolved');
    expect(await refused('alert.acknowledgeEvent', { id })).to.match(
      /^PRECONDITION_FAILED: .*resolved already/,
    );
  });

  it('are listed by pages, newest first, and by what they are about', async () => {
    const ruleId = 'long-gone';
    const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute));
    await test.db('alert_events').insert(
      Array.from({ length: 25 }, (_, n) => ({
        ...{
          id: `event-${String(n).padStart(2, '0')}`,
          environment_id: teams.ours.environmentId,
          rule_id: ruleId,
        },
        ...{ subject: `node:${n}`, rule_name: 'gone', metric: 'cpu_usage', condition: 'gt', threshold: 90 },
        ...{ duration_seconds: 60, node_id: `n${n % 2}`, status: 'resolved', message: 'busy' },
        // Five of each minute.
        ...{ fired_at: at(Math.floor(n / 5)), opened_at: at(Math.floor(n / 5)), resolved_at: at(60) },
      })),
    );
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const page: AlertEventPage = await list({ ruleId, limit: 10, ...(cursor ? { cursor } : {}) });
      seen.push(...page.events.map(({ id }) => id));
      cursor = page.nextCursor;
    } while (cursor);
    const all = Array.from({ length: 25 }, (_, n) => `event-${String(n).padStart(2, '0')}`);
    expect(seen).to.deep.equal(all.toReversed());
    expect((await list({ ruleId, nodeId: 'n1' })).events).to.have.length(12);
    expect((await list({ ruleId, status: 'open' })).events).to.deep.equal([]);
    expect((await list({ ruleId, status: 'resolved', limit: 200 })).events).to.have.length(25);
    expect(
      await refusal(teams.viewer, 'query', 'alert.listEvents', {
        environmentId: teams.ours.environmentId,
        cursor: 'no cursor',
      }),
    ).to.match(/^BAD_REQUEST: cursor is not one/);
  });

  it('that are open are shown over all environments to those who see them', async () => {
    await eventOf((await createRule()).id);
    const { firing, events } = await teams.viewer.query<OpenAlertEvents>('alert.openEvents', {});
    expect(firing).to.be.at.least(1);
    expect(events.map(({ environmentName }) => environmentName)).to.include('ours');
    expect(events[0]?.status).to.equal('firing');
    const strange = await teams.stranger.query<OpenAlertEvents>('alert.openEvents', {});
    expect(strange).to.deep.equal({ firing: 0, acknowledged: 0, events: [] });
  });

  describe('that are silenced', () => {
    it('are muted at once, and not counted as firing, until the silence is ended', async () => {
      const rule = await createRule();
      const { id } = await eventOf(rule.id);
      const created = await teams.editor.mutate<AlertSilence>(
        'alert.createSilence',
        silence({ matchers: { node: 'ours-*', rule: rule.name } }),
      );
      expect(created).to.deep.include({
        status: 'active',
        muted: 0,
        createdBy: teams.editor.email,
        managedBy: 'ui',
      });
      expect((await eventOf(rule.id, ({ mutedBy }) => mutedBy !== null)).mutedBy).to.equal(created.id);
      const listed = await teams.viewer.query<AlertSilence[]>('alert.listSilences', {
        environmentId: teams.ours.environmentId,
      });
      expect(listed.find((one) => one.id === created.id)?.muted).to.equal(1);
      const { events } = await teams.viewer.query<OpenAlertEvents>('alert.openEvents', {});
      expect(events.at(-1)?.id).to.equal(id);
      const ended = await teams.editor.mutate<AlertSilence>('alert.endSilence', { id: created.id });
      expect(ended.status).to.equal('ended');
      await eventOf(rule.id, ({ mutedBy }) => mutedBy === null);
      expect((await get(id)).changes.map(({ kind }) => kind)).to.deep.equal(['fired', 'muted', 'unmuted']);
    });

    it('need labels, a reason and an end that lies ahead, within a year', async () => {
      const at = (ms: number) => new Date(Date.now() + ms).toISOString();
      for (const [fields, says] of [
        [{ matchers: {} }, /matchers/],
        [{ reason: ' ' }, /reason/],
        [{ endsAt: at(-1_000) }, /endsAt lies in the past|endsAt must be after/],
        [{ startsAt: at(2 * HOUR_MS) }, /endsAt must be after startsAt/],
        [{ endsAt: at(400 * 24 * HOUR_MS) }, /within 366 days/],
        [{ endsAt: 'soon' }, /endsAt/],
      ] as const)
        expect(await refused('alert.createSilence', silence(fields)), JSON.stringify(fields))
          .to.match(/^BAD_REQUEST/)
          .and.match(says);
    });

    it('by one that has not begun are gone when it is ended', async () => {
      const startsAt = new Date(Date.now() + HOUR_MS / 2).toISOString();
      const { id, status } = await teams.editor.mutate<AlertSilence>(
        'alert.createSilence',
        silence({ startsAt }),
      );
      expect(status).to.equal('scheduled');
      await teams.editor.mutate('alert.endSilence', { id });
      expect(await refused('alert.endSilence', { id })).to.match(/^NOT_FOUND: Silence/);
    });
  });
});
