/** Conversations with the assistant: streamed, stopped, kept, and private; what they propose is checked before it is shown. */
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
import type { Conversation } from '../../../schemas/api/pipelines/conversations.ts';
import { chat, openChat } from '../../support/clients/ai-chat.ts';
import { useController, useReplica } from '../../support/harness/controller.ts';
import { QUIET } from '../../support/harness/platform.ts';
import { until } from '../../support/harness/until.ts';
import { PROVIDER_KEY, suggest, useAssisted } from '../../support/scenes/assisted.ts';
import { callProcedure, expectRefused } from '../../support/users/person.ts';

describe('conversations with the assistant', function () {
  this.timeout(60_000);
  const test = useController();
  const other = useReplica(test);
  const { teams, provider, drawn, configOf, redraw } = useAssisted(test);

  beforeEach(async () => {
    provider.reset();
    await test.db('ai_conversations').delete();
  });

  const about = (more: object = {}) => ({
    ...{ conversation: 'pipeline', pipelineId: drawn.pipelineId, message: 'What does it do?', ...more },
  });
  const conversation = async (name = 'ai.getConversation', more: object = {}, user = teams.editor) =>
    (await user.query<{ conversation: Conversation | null }>(name, { pipelineId: drawn.pipelineId, ...more }))
      .conversation;

  it('stream an answer, store it, and send what was said before with the next question', async () => {
    provider.script(
      [{ text: 'It marks each line.' }, { usage: { input: 40, output: 6 } }],
      [{ text: 'Because you asked.' }],
    );
    const first = await chat(teams.editor, about());
    expect(first.status).to.equal(200);
    expect(first.text()).to.equal('It marks each line.');
    expect(first.events.map(({ event }) => event)).to.include.members(['start', 'delta', 'usage', 'done']);
    expect(first.find('done')).to.deep.include({ state: 'done', note: null });
    await chat(teams.editor, about({ message: 'Why?' }));
    const { messages } = provider.last.body;
    expect(messages.map(({ role }) => role)).to.deep.equal(['system', 'user', 'assistant', 'user']);
    expect(messages[1]?.content).to.equal('What does it do?');
    expect(messages[3]?.content)
      .to.match(/# Question\n\nWhy\?$/)
      .and.include('type: remap');
    const stored = await conversation();
    expect(stored?.messages.map(({ author, state, content }) => [author, state, content])).to.deep.equal([
      ['user', 'done', 'What does it do?'],
      ['assistant', 'done', 'It marks each line.'],
      ['user', 'done', 'Why?'],
      ['assistant', 'done', 'Because you asked.'],
    ]);
    expect(stored?.messages[1]).to.deep.include({ inputTokens: 40, outputTokens: 6 });
    expect(await conversation('ai.getConversation', {}, teams.admin), 'of somebody else').to.equal(null);
    await teams.editor.mutate('ai.startNewConversation', { pipelineId: drawn.pipelineId });
    expect((await conversation())?.messages).to.deep.equal([]);
    const asked = await test.db('audit_log').where({ action: 'ai.asked' }).first();
    expect(JSON.stringify(asked)).to.include('scripted').and.not.include('What does it do');
  });

  it('are stopped by ai.stop, at any controller, and by a client that goes away, and kept as far as they came', async () => {
    provider.script([{ text: 'First half' }, { stall: true }], [{ text: 'Another half' }, { stall: true }]);
    const stopped = await openChat(teams.editor, about());
    await until(() => stopped.text() === 'First half', { what: 'the first half' });
    const twice = await openChat(teams.editor, about());
    expect(twice.status).to.equal(409);
    expect(twice.error?.error).to.include('An answer is being written');
    const { conversationId } = stopped.find('start');
    const { pipelineId } = drawn;
    expectRefused(await teams.admin.call('mutation', 'ai.stop', { pipelineId, conversationId }), 404);
    const { cookie } = teams.editor;
    await callProcedure(other.url, 'mutation', 'ai.stop', { pipelineId, conversationId }, { cookie });
    await stopped.ended;
    expect(stopped.find('done')).to.include({ state: 'stopped' });
    await until(() => provider.last.isClosedEarly, { what: "the end of the provider's request" });
    const left = await openChat(teams.editor, about());
    await until(() => left.text() === 'Another half', { what: 'the other half' });
    left.close();
    await until(() => provider.last.isClosedEarly, { what: "the end of the provider's request" });
    const states = async () =>
      (await conversation())?.messages.map(({ state, content }) => `${state} ${content}`);
    await until(async () => (await states())?.[3] === 'stopped Another half', { what: 'the stored half' });
    expect((await states())?.[1]).to.equal('stopped First half');
    expect(await test.db('ai_requests').whereNull('finished_at')).to.deep.equal([]);
  });

  it('report what fails at the provider in the stream, and limits before it', async () => {
    provider.script([{ status: 503 }], [{ status: 503 }], [{ raw: 'data: nonsense\n\n' }]);
    const failed = await chat(teams.editor, about());
    expect(failed.find('error')).to.include({ code: 'UNAVAILABLE' });
    expect(failed.find('error').message).to.include('an error of its own (status 503)');
    expect((await chat(teams.editor, about())).find('error').message).to.include('does not understand');
    expect((await conversation())?.messages[1]).to.deep.include({ state: 'failed', content: '' });
    const { teamId } = teams.ours;
    await test.db('ai_providers').where({ team_id: teamId }).update({ requests_per_user_per_hour: 1 });
    const limited = await openChat(teams.editor, about());
    await test.db('ai_providers').where({ team_id: teamId }).update({ requests_per_user_per_hour: 1_000 });
    expect(limited.status).to.equal(429);
    expect(limited.error?.error).to.include('which is the limit of this team');
  });

  it('are for those who may: roles, teams, forms and sites', async () => {
    for (const [user, body, status, headers] of [
      [teams.viewer, about(), 403, {}],
      [teams.viewer, about({ conversation: 'vrl', componentKey: 'mark' }), 403, {}],
      [teams.stranger, about(), 404, {}],
      [teams.editor, about({ conversation: 'vrl' }), 400, {}],
      [teams.editor, about({ message: '  ' }), 400, {}],
      [teams.editor, about({ message: 'ü'.repeat(5_000) }), 400, {}],
      [teams.editor, about({ event: '[1]' }), 400, {}],
      [teams.editor, about({ more: true }), 400, {}],
      [teams.editor, about(), 403, { origin: 'https://elsewhere.example' }],
      [{ ...teams.editor, cookie: '' }, about(), 401, {}],
      [teams.editor, about({ pipelineId: teams.theirs.pipelineId }), 404, {}],
    ] as const) {
      const answer = await openChat(user, body, headers);
      expect(answer.status, JSON.stringify([body, answer.error]).slice(0, 200)).to.equal(status);
    }
    expect(provider.requests).to.deep.equal([]);
    // Who sees the logs may ask about them.
    expect((await chat(teams.viewer, about({ conversation: 'debug' }))).find('done')).to.include({
      state: 'done',
    });
  });

  it('show suggestions with their verdict, and apply them by the saving of graphs', async () => {
    await redraw();
    provider.script([
      { text: 'A filter drops the noise.' },
      suggest(
        'Drop debug lines',
        {
          type: 'addComponent',
          componentKey: 'quiet',
          kind: 'TRANSFORM',
          componentType: 'filter',
          config: { condition: '.level != "debug"' },
          inputs: ['mark'],
        },
        { type: 'disconnect', from: 'mark', to: 'out' },
        { type: 'connect', from: 'quiet', to: 'out' },
      ),
    ]);
    const answer = await chat(teams.editor, about({ message: 'Drop debug lines' }));
    const suggestion = answer.find('suggestion');
    expect(suggestion).to.deep.include({ verdict: 'valid', problems: [], appliedAt: null });
    expect(suggestion.summary[0]).to.equal('Add the transform "quiet" of the type filter, fed by "mark"');
    expect(suggestion.diff).to.include('+  quiet:');
    expect(await configOf('quiet'), 'before anybody accepts it').to.equal(undefined);
    const { conversationId, messageId } = answer.find('start');
    const chosen = {
      ...{ pipelineId: drawn.pipelineId, conversationId, messageId, suggestionIds: [suggestion.id] },
    };
    expectRefused(await teams.viewer.call('mutation', 'ai.applySuggestions', chosen), 403);
    expectRefused(await teams.admin.call('mutation', 'ai.applySuggestions', chosen), 404, 'Conversation');
    await teams.editor.mutate('ai.applySuggestions', chosen);
    expect(await configOf('quiet')).to.deep.equal({ condition: '.level != "debug"' });
    expect((await conversation())?.messages[1]?.suggestions[0]?.appliedAt).to.be.a('string');
    expectRefused(await teams.editor.call('mutation', 'ai.applySuggestions', chosen), 409, 'applied already');
    const rows = await test
      .db('audit_log')
      .whereIn('action', ['pipeline.graphSaved', 'ai.suggestionsApplied']);
    expect(rows.filter(({ user_email }) => user_email === teams.editor.email).length).to.be.at.least(2);
  });

  it('give what the checks refuse back to the model once, and show what is left of it', async () => {
    await redraw();
    const wrong = suggest('Mark it', { type: 'setVrl', componentKey: 'mark', program: '.seen = nonsense(' });
    provider.script(
      [{ text: 'So.' }, wrong],
      [
        { text: 'I forgot a bracket.' },
        suggest('Mark it', { type: 'setVrl', componentKey: 'mark', program: '.seen = false' }),
      ],
    );
    const mended = await chat(teams.editor, about());
    expect(provider.requests).to.have.length(2);
    expect(provider.last.text)
      .to.include('The checks of Headgate refuse')
      .and.include('VRL in "mark" does not compile');
    expect(mended.events.filter(({ event }) => event === 'suggestion')).to.have.length(1);
    expect(mended.find('suggestion')).to.deep.include({ verdict: 'valid' });
    provider.script([wrong], [{ text: 'I cannot.' }]);
    const left = await chat(teams.editor, about());
    expect(left.find('suggestion')).to.deep.include({ verdict: 'invalid' });
    const { conversationId, messageId } = left.find('start');
    const chosen = { conversationId, messageId, suggestionIds: [left.find('suggestion').id] };
    expectRefused(
      await teams.editor.call('mutation', 'ai.applySuggestions', { pipelineId: drawn.pipelineId, ...chosen }),
      412,
      'does not fit the pipeline',
    );
    expect(await configOf('mark')).to.deep.equal({ source: '.seen = true' });
  });

  it('drop nonsense with a note, and read a block of JSON where a model has no tools', async () => {
    await redraw();
    provider.script([
      { text: 'Well.' },
      { tool: 'suggest_changes', rawInput: '{"title": "half' },
      { tool: 'delete_everything', input: {} },
      suggest('Unknown', { type: 'grantAdmin', user: 'me' }),
    ]);
    const nonsense = await chat(teams.editor, about());
    expect(nonsense.find('suggestion')).to.equal(undefined);
    expect(nonsense.find('done').note)
      .to.include('it is not JSON')
      .and.include('unknown tool "delete_everything"');
    const block = JSON.stringify(
      suggest('Less', { type: 'setDisabled', componentKey: 'mark', disabled: true }).input,
    );
    provider.script(
      [{ status: 400, message: 'this model does not support tools' }],
      [{ text: `Disable it.\n\n\`\`\`json\n${block}\n\`\`\`\n` }],
    );
    const plain = await chat(teams.editor, about());
    expect(provider.last.body.tools).to.equal(undefined);
    expect(plain.find('suggestion').summary).to.deep.equal(['Disable the component "mark"']);
  });

  it('speak to Anthropic in its own form', async () => {
    await redraw();
    const { teamId } = teams.ours;
    const settings = { teamId, model: 'scripted', apiKey: PROVIDER_KEY };
    await teams.admin.mutate('ai.updateProvider', {
      ...settings,
      kind: 'anthropic',
      baseUrl: provider.origin,
    });
    provider.script([
      { usage: { input: 50, output: 20 } },
      { text: 'Off with it.' },
      suggest('Less', { type: 'setDisabled', componentKey: 'mark', disabled: true }),
    ]);
    const answer = await chat(teams.editor, about());
    await teams.admin.mutate('ai.updateProvider', {
      ...settings,
      kind: 'openai',
      baseUrl: provider.openAiUrl,
    });
    expect(provider.last.wire).to.equal('anthropic');
    expect(provider.last.body.messages.map(({ role }) => role)).to.deep.equal(['user']);
    expect(provider.last.body.tools?.[0]).to.have.nested.property('input_schema.properties.changes');
    expect(answer.text()).to.equal('Off with it.');
    expect(answer.find('suggestion')).to.deep.include({ title: 'Less', verdict: 'valid' });
    expect((await conversation())?.messages[1]).to.deep.include({ inputTokens: 50, outputTokens: 20 });
  });

  it('run no VRL program where there is no event, which is not held against it', async () => {
    await redraw();
    const program = '.message = upcase!(string!(.message))';
    provider.script([suggest('Upper case', { type: 'setVrl', componentKey: 'mark', program })]);
    const asked = provider.requests.length;
    const answer = await chat(teams.editor, about());
    expect(answer.find('suggestion').trial).to.deep.include({
      eventFrom: 'none',
      success: true,
      error: null,
    });
    expect(provider.requests.length, 'the model is not asked to mend it').to.equal(asked + 1);
  });

  it('run each VRL program on the given event before it is shown', async () => {
    await redraw();
    provider.script([
      { text: 'Upper case it is.' },
      suggest('Upper case', {
        type: 'setVrl',
        componentKey: 'mark',
        program: '.message = upcase!(.message)',
      }),
    ]);
    const answer = await chat(
      teams.editor,
      about({ conversation: 'vrl', componentKey: 'mark', event: '{"message": "hello"}' }),
    );
    const { trial } = answer.find('suggestion');
    expect(trial).to.deep.include({ eventFrom: 'given', success: true, error: null });
    expect(JSON.parse(trial.output)).to.deep.equal({ message: 'HELLO' });
    expect(provider.last.text)
      .to.include('Component: mark, of the type remap')
      .and.include('{"message": "hello"}');
    const { conversationId, messageId } = answer.find('start');
    const chosen = { conversationId, messageId, suggestionIds: [answer.find('suggestion').id] };
    const marked = await teams.editor.mutate<{ conversation: Conversation }>('ai.markVrlSuggestionsApplied', {
      ...{ pipelineId: drawn.pipelineId, ...chosen },
    });
    expect(marked.conversation.messages[1]?.suggestions[0]?.appliedAt).to.be.a('string');
    expectRefused(
      await teams.editor.call('mutation', 'ai.markSuggestionsApplied', {
        pipelineId: drawn.pipelineId,
        ...chosen,
      }),
      404,
    );
    expect(await configOf('mark'), 'marking changes no graph').to.deep.equal({ source: '.seen = true' });
  });

  /** Time stands still where the signal has to do it; where the signal is lost, time alone moves. */
  describe('that are stopped at another controller', () => {
    const execute = createExecute(writeAudit);

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
    const storedMessage = (id: string) => test.db('ai_messages').where({ id }).first('state', 'content');

    it('end at once by a signal', async () => {
      const answer = await writeHere();
      await stopThere(answer.conversationId);
      await until(() => answer.state.ended, { what: 'the answer to be stopped while time stands still' });
      expect(answer.last())
        .to.deep.include({ event: 'done' })
        .and.nested.include({ 'data.state': 'stopped' });
      expect(await storedMessage(answer.messageId)).to.deep.equal({
        state: 'stopped',
        content: 'Half of it',
      });
      await until(() => provider.last.isClosedEarly, { what: "the end of the provider's request" });
    });

    it('end within 5 s where the signal is lost, and are not stopped by a signal about another', async () => {
      // Never connected: it hears nobody, as a bus whose connection is broken.
      const deaf = createBus({ url: test.databaseUrl, log: QUIET });
      const answer = await writeHere(deaf);
      await deaf.publish(test.db, { type: 'ai-stop', messageId: 'another' });
      await stopThere(answer.conversationId);
      answer.clock.advance(4_999);
      expect((await storedMessage(answer.messageId))?.state, 'nobody has looked at the row').to.equal(
        'running',
      );
      expect(answer.state.ended).to.equal(false);
      answer.clock.advance(1);
      await until(() => answer.state.ended, { what: 'the row to be looked at after 5 s' });
      expect(answer.last()).to.nested.include({ 'data.state': 'stopped' });
      expect(await storedMessage(answer.messageId)).to.deep.equal({
        state: 'stopped',
        content: 'Half of it',
      });
    });

    it('go on where nobody stops them, and are stored as they come', async () => {
      const answer = await writeHere();
      for (const round of [1, 2, 3]) {
        await test.db('ai_messages').where({ id: answer.messageId }).update({ content: '' });
        await until(
          async () => {
            answer.clock.advance(1_000);
            return (await storedMessage(answer.messageId))?.content === 'Half of it';
          },
          { what: `the answer to be stored for the ${round}. time` },
        );
      }
      expect(answer.state.ended).to.equal(false);
      await stopThere(answer.conversationId);
      await until(() => answer.state.ended, { what: 'the answer to be stopped' });
    });
  });
});
