/**
 * An answer is stopped at another controller than the one that writes it. Time stands still where the signal has to do it;
 * where the signal is lost, time alone moves.
 */
import { expect } from 'chai';
import {
  type AnswerEvent,
  askOperationOf,
  readQuestion,
  writeAnswer,
} from '../../../controller/pipelines/assistant/index.ts';
import { writeAudit } from '../../../controller/platform/operation/audit-writer.ts';
import type { Context } from '../../../controller/platform/operation/context.ts';
import { createExecute } from '../../../controller/platform/operation/execute.ts';
import { type Bus, createBus } from '../../../controller/platform/runtime/bus.ts';
import { manualClock } from '../../../reconcilers/loops/clock.ts';
import { useController, useReplica } from '../../support/harness/controller.ts';
import { QUIET } from '../../support/harness/platform.ts';
import { until } from '../../support/harness/until.ts';
import { useAssisted } from '../../support/scenes/assisted.ts';
import { callProcedure } from '../../support/users/person.ts';

describe('an answer that is stopped at another controller', function () {
  this.timeout(60_000);
  const test = useController();
  const other = useReplica(test);
  const { teams, provider, drawn } = useAssisted(test);
  const execute = createExecute(writeAudit);

  // The first one loads the compiler of VRL, which takes seconds.
  before(() =>
    teams.editor.mutate('ai.previewContext', { conversation: 'pipeline', pipelineId: drawn.pipelineId }),
  );
  beforeEach(async () => {
    provider.reset();
    await test.db('ai_conversations').delete();
  });

  /** Written here by this controller's own parts, up to a provider that sends a part of it and then nothing. */
  async function writeHere(bus?: Bus) {
    const clock = manualClock(Date.now());
    const own = test.controller.systemContext('test');
    const row = await test.db('users').where({ email: teams.editor.email }).first('id', 'email', 'name');
    if (!row) throw new Error('there is no editor');
    const ctx: Context = {
      ...{ ...own, clock, services: { ...own.services, ...(bus ? { bus } : {}) } },
      actor: {
        ...{ type: 'user', userId: row.id, email: row.email, name: row.name, isSuperAdmin: false },
        ...{ roles: new Map([[teams.ours.teamId, 'EDITOR']]), sessionId: 'test', requiredAction: null },
      },
    };
    const question = {
      ...{ conversation: 'pipeline' as const, pipelineId: drawn.pipelineId, message: 'What does it do?' },
    };
    provider.script([{ text: 'Half of it' }, { stall: true }]);
    const asked = await execute(askOperationOf('pipeline'), ctx, question);
    const events: AnswerEvent[] = [];
    const state = { ended: false };
    void writeAnswer(ctx, asked, await readQuestion(ctx, question), (one) => events.push(one)).then(() => {
      state.ended = true;
    });
    const text = () => events.map((one) => (one.event === 'delta' ? one.data.text : '')).join('');
    await until(() => text() === 'Half of it', { what: 'the first half' });
    return { ...asked, clock, state, last: () => events.at(-1) };
  }

  const stopThere = async (conversationId: string): Promise<void> => {
    const input = { pipelineId: drawn.pipelineId, conversationId };
    const { cookie } = teams.editor;
    const { output } = await callProcedure(other.url, 'mutation', 'ai.stop', input, { cookie });
    expect(output).to.deep.equal({ stopping: true });
  };
  const stored = (id: string) => test.db('ai_messages').where({ id }).first('state', 'content');

  it('ends at once by a signal', async () => {
    const answer = await writeHere();
    await stopThere(answer.conversationId);
    await until(() => answer.state.ended, { what: 'the answer to be stopped while time stands still' });
    expect(answer.last()).to.deep.include({ event: 'done' }).and.nested.include({ 'data.state': 'stopped' });
    expect(await stored(answer.messageId)).to.deep.equal({ state: 'stopped', content: 'Half of it' });
    await until(() => provider.last.isClosedEarly, { what: "the end of the provider's request" });
  });

  it('ends within 5 s where the signal is lost, and is not stopped by a signal about another', async () => {
    // Never connected: it hears nobody, as a bus whose connection is broken.
    const deaf = createBus({ url: test.databaseUrl, log: QUIET });
    const answer = await writeHere(deaf);
    await deaf.publish(test.db, { type: 'ai-stop', messageId: 'another' });
    await stopThere(answer.conversationId);
    answer.clock.advance(4_999);
    expect((await stored(answer.messageId))?.state, 'nobody has looked at the row').to.equal('running');
    expect(answer.state.ended).to.equal(false);
    answer.clock.advance(1);
    await until(() => answer.state.ended, { what: 'the row to be looked at after 5 s' });
    expect(answer.last()).to.nested.include({ 'data.state': 'stopped' });
    expect(await stored(answer.messageId)).to.deep.equal({ state: 'stopped', content: 'Half of it' });
  });

  it('goes on where nobody stops it, and is stored as it comes', async () => {
    const answer = await writeHere();
    for (const round of [1, 2, 3]) {
      await test.db('ai_messages').where({ id: answer.messageId }).update({ content: '' });
      await until(
        async () => {
          answer.clock.advance(1_000);
          return (await stored(answer.messageId))?.content === 'Half of it';
        },
        { what: `the answer to be stored for the ${round}. time` },
      );
    }
    expect(answer.state.ended).to.equal(false);
    await stopThere(answer.conversationId);
    await until(() => answer.state.ended, { what: 'the answer to be stopped' });
  });
});
