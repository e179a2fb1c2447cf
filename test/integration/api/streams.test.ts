/** The two streams of server-sent events: to agents (GET /api/agent/push) and to pages (GET /api/events). */
import { expect } from 'chai';
import { AGENT_LIMITS } from '../../../schemas/agent/limits.ts';
import { UI_TOPICS, type UiEvent } from '../../../schemas/api/ui-events.ts';
import { type OpenStream, openStream, send } from '../../support/clients/http.ts';
import { startTestController, useController } from '../../support/harness/controller.ts';
import { until } from '../../support/harness/until.ts';
import { leftWhileAsked } from '../../support/scenes/left-requests.ts';
import { manifest, useTwoTeams } from '../../support/scenes/two-teams.ts';
import { makeUser, signIn, type TestUser } from '../../support/users/person.ts';

describe('streams', () => {
  const test = useController();
  const teams = useTwoTeams(test);
  const open: OpenStream[] = [];
  const keep = (stream: OpenStream) => {
    open.push(stream);
    return stream;
  };

  afterEach(() => {
    for (const stream of open.splice(0)) stream.close();
  });

  const rotate = (side: { environmentId: string; secretId: string }) =>
    teams.root.mutate('secret.update', {
      environmentId: side.environmentId,
      id: side.secretId,
      value: 'turned',
    });

  describe('push', () => {
    const push = async (side: 'ours' | 'theirs' = 'ours') => {
      const stream = keep(await teams[side].node.push());
      await until(() => stream.text() !== '', { what: 'the first words' });
      return stream;
    };
    const told = (stream: OpenStream) => stream.events<{ type: string; reason: string }>('config_changed');

    it('begins with a comment, and may be kept by nobody on the way', async () => {
      const stream = await push();
      expect(stream.status).to.equal(200);
      expect(stream.headers['content-type']).to.match(/^text\/event-stream/);
      expect(stream.headers['cache-control']).to.include('no-store');
      expect(stream.headers['content-encoding']).to.equal(undefined);
      expect(stream.text()).to.equal(': connected\n\n');
    });

    it('tells of a new secret’s value, with the type in the data too, and to its own environment only', async () => {
      const ours = await push('ours');
      const theirs = await push('theirs');
      await rotate(teams.ours);
      await until(() => told(ours).length > 0, { what: 'config_changed' });
      expect(told(ours)[0]).to.deep.equal({ type: 'config_changed', reason: 'secret updated' });
      expect(ours.text()).not.to.include('turned');
      await rotate(teams.theirs);
      await until(() => told(theirs).length > 0, { what: 'config_changed for the others' });
      expect(told(ours)).to.have.length(1);
      expect(told(theirs)).to.have.length(1);
    });

    it('tells of a pipeline that came by git', async () => {
      const stream = await push();
      await teams.git.commit({ 'ours/pushed.yaml': manifest('pushed') });
      const { stderr } = await teams.git.push();
      await until(() => told(stream).length > 0, { what: `config_changed: ${stderr}` });
      const list = await teams.root.query<{ id: string; name: string }[]>('pipeline.list', {
        environmentId: teams.ours.environmentId,
      });
      const { id } = list.find((one) => one.name === 'pushed') ?? {};
      expect(
        stream.events<{ pipelineId?: string }>('config_changed').map((one) => one.pipelineId),
      ).to.include(id);
    });

    it('is one a node: a newer stream ends the older and goes on itself', async () => {
      const older = await push();
      const newer = await push();
      await until(() => older.ended(), { what: 'the older to end' });
      await rotate(teams.ours);
      await until(() => told(newer).length > 0, { what: 'the newer to hear' });
      expect(newer.ended()).to.equal(false);
    });

    it('asks to look again when signals may have been lost', async () => {
      const stream = await push();
      await test.db.raw(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'headgate-bus%' AND datname = current_database()",
      );
      await until(() => told(stream).some((one) => one.reason === 'resync'), { what: 'resync' });
    });

    it('sends nothing as large as the agent’s limit', async () => {
      const stream = await push();
      await rotate(teams.ours);
      await until(() => told(stream).length > 0, { what: 'a message' });
      expect(Buffer.byteLength(stream.text())).to.be.below(AGENT_LIMITS.pushMessageBytes);
    });

    it('is refused without a node’s token', async () => {
      const stream = keep(await openStream(`${test.url}/api/agent/push`, { authorization: 'Bearer x' }));
      expect(stream.status).to.equal(401);
    });
  });

  describe('events of the pages', () => {
    const listen = async (person: TestUser) => {
      const stream = keep(await openStream(`${test.url}/api/events`, { cookie: person.cookie }));
      await until(() => stream.text() !== '', { what: 'the first words' });
      return stream;
    };
    const changed = (stream: OpenStream) => stream.events<UiEvent>('changed');
    const environments = (stream: OpenStream) => new Set(changed(stream).map((one) => one.environmentId));

    it('are refused without a session, whatever stands in the URL', async () => {
      const answer = await send(`${test.url}/api/events?token=${encodeURIComponent(teams.viewer.cookie)}`);
      expect(answer.status).to.equal(401);
      expect(answer.json()).to.deep.equal({ error: 'Sign in first' });
    });

    it('come to members of the team and to nobody else', async () => {
      const viewer = await listen(teams.viewer);
      const stranger = await listen(teams.stranger);
      const root = await listen(teams.root);
      await rotate(teams.ours);
      await rotate(teams.theirs);
      const topics = (stream: OpenStream, id: string) =>
        changed(stream).some((one) => one.environmentId === id && one.topics.includes('secrets'));
      await until(
        () => topics(viewer, teams.ours.environmentId) && topics(stranger, teams.theirs.environmentId),
        {
          what: 'each to hear of his own',
        },
      );
      await until(() => topics(root, teams.ours.environmentId) && topics(root, teams.theirs.environmentId), {
        what: 'the super admin to hear of both',
      });
      expect([...environments(viewer)]).to.deep.equal([teams.ours.environmentId]);
      expect([...environments(stranger)]).to.deep.equal([teams.theirs.environmentId]);
    });

    it('come together: many changes of a moment are one event', async () => {
      const stream = await listen(teams.viewer);
      const { bus } = test.controller.systemContext('test').services;
      const { environmentId } = teams.ours;
      // They are told by one commit: ten requests may take a slow machine longer than events are gathered.
      await test.db.transaction(async (tx) => {
        for (const topic of UI_TOPICS) await bus.publish(tx, { type: 'ui', environmentId, topics: [topic] });
      });
      const heard = () => new Set(changed(stream).flatMap(({ topics }) => topics));
      await until(() => UI_TOPICS.every((topic) => heard().has(topic)), { what: 'all to be told' });
      expect(changed(stream).length).to.be.below(5);
    });

    it('are no-store and not compressed', async () => {
      const stream = await listen(teams.viewer);
      expect(stream.headers['cache-control']).to.include('no-store');
      expect(stream.headers['content-encoding']).to.equal(undefined);
      expect(stream.headers['x-content-type-options']).to.equal('nosniff');
    });

    it('end with the sign-out', async () => {
      const person = await signIn(test.url, teams.viewer.email);
      const [ending, staying] = [await listen(person), await listen(teams.viewer)];
      await send(`${test.url}/api/auth/sign-out`, { body: {}, headers: { cookie: person.cookie } });
      await until(() => ending.ended(), { what: 'the stream to end' });
      expect(staying.ended(), 'the same user’s other session').to.equal(false);
    });

    it('end when the user is locked', async () => {
      const email = 'locked-later@example.org';
      const userId = await makeUser(test.db, { email, teams: { [teams.ours.teamId]: 'VIEWER' } });
      const stream = await listen(await signIn(test.url, email));
      await test.db('users').where({ id: userId }).update({ locked_at: new Date() });
      await test.controller.systemContext('test').services.bus.publish(test.db, { type: 'user', userId });
      await until(() => stream.ended(), { what: 'the stream to end' });
    });

    it('stop for a team that the user has left', async () => {
      const email = 'leaving@example.org';
      const userId = await makeUser(test.db, {
        email,
        teams: { [teams.ours.teamId]: 'VIEWER', [teams.theirs.teamId]: 'VIEWER' },
      });
      const stream = await listen(await signIn(test.url, email));
      await test.db('team_members').where({ user_id: userId, team_id: teams.ours.teamId }).delete();
      await test.controller.systemContext('test').services.bus.publish(test.db, { type: 'user', userId });
      // What is published later arrives later: the second event shows that the first had its chance.
      await until(
        async () => {
          await rotate(teams.ours);
          await rotate(teams.theirs);
          return environments(stream).has(teams.theirs.environmentId);
        },
        { what: 'an event of the team that stays', everyMs: 100 },
      );
      const before = changed(stream).filter((one) => one.environmentId === teams.ours.environmentId).length;
      const count = changed(stream).length;
      await rotate(teams.ours);
      await rotate(teams.theirs);
      await until(() => changed(stream).length > count, { what: 'another event' });
      expect(changed(stream).filter((one) => one.environmentId === teams.ours.environmentId)).to.have.length(
        before,
      );
    });

    it('are open twenty times a user, and 429 after that', async () => {
      const person = await signIn(test.url, teams.editor.email);
      for (let index = 0; index < 20; index += 1) await listen(person);
      const refused = await send(`${test.url}/api/events`, { headers: { cookie: person.cookie } });
      expect(refused.status).to.equal(429);
      expect(refused.headers['retry-after']).to.equal('5');
    });

    it('are not counted where a page went away before it was known whose it is', async () => {
      const person = await signIn(test.url, teams.viewer.email);
      await leftWhileAsked(test, `${test.url}/api/events`, person.cookie);
      for (let index = 0; index < 20; index += 1) await listen(person);
    });

    it('end with the controller, and so do the push streams', async function () {
      this.timeout(10_000);
      const own = await startTestController();
      const page = keep(await openStream(`${own.url}/api/events`, { cookie: (await own.root()).cookie }));
      await until(() => page.text() !== '', { what: 'the first words' });
      await own.stop();
      await until(() => page.ended(), { what: 'the stream to end' });
      expect(page.whole(), 'ended, not cut').to.equal(true);
    });
  });
});
