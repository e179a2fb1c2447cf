import { newId } from '../../../../controller/platform/operation/ids.ts';
import type { Suggestion } from '../../../../schemas/api/pipelines/conversations.ts';
import type { Side } from '../../scenes/two-teams.ts';
import type { TestUser } from '../../users/person.ts';
import { freshGraph } from './drafts.ts';
import { pipeline, type Row, type Rows } from './row.ts';

const team = ({ teamId }: Side) => ({ teamId });
/** Nothing listens there. */
const provider = ({ teamId }: Side) => ({
  ...{ teamId, kind: 'openai', model: 'a-model', baseUrl: 'http://127.0.0.1:9/v1', apiKey: null },
});
async function withProvider(side: Side, _: number, root: TestUser) {
  await root.mutate('ai.updateProvider', provider(side));
  return team(side);
}
const undo = ({ db }: Side) => db('ai_providers').delete();

const vrl = (side: Side) => ({ ...pipeline(side), componentKey: 'lines' });

const suggestion = (): Suggestion => ({
  ...{ id: newId(), title: 'Off', reason: '', summary: ['Disable the component "lines"'], verdict: 'valid' },
  changes: [{ type: 'setConfig', componentKey: 'lines', config: { format: 'syslog' } }],
  ...{ problems: [], warnings: [], diff: '', trial: null, graphRevision: 1, appliedAt: null, became: null },
});

/** Conversations are their user's own: that of the user by whom the tests run the procedure. */
const inConversation =
  (kind: 'pipeline' | 'vrl', email: string) => async (side: Side, n: number, root: TestUser) => {
    const { db } = side;
    const { pipelineId } = await freshGraph(side, 90_000 + n, root);
    const [user] = await db('users').where({ email }).select('id');
    const [conversationId, messageId] = [newId(), newId()];
    const at = new Date();
    await db('ai_conversations').insert({
      ...{ id: conversationId, kind, pipeline_id: pipelineId, user_id: user?.id ?? '' },
      ...{ created_at: at, used_at: at, component_key: kind === 'vrl' ? 'lines' : '' },
    });
    const suggestions = [suggestion()];
    await db('ai_messages').insert({
      ...{ id: messageId, conversation_id: conversationId, author: 'assistant', state: 'done', content: 'x' },
      ...{ suggestions: JSON.stringify(suggestions), created_at: at },
    });
    return { pipelineId, conversationId, messageId, suggestionIds: suggestions.map(({ id }) => id) };
  };
const chosen = (kind: 'pipeline' | 'vrl'): Row => ({
  names: 'object',
  input: inConversation(kind, 'editor@example.org'),
});
async function answering(side: Side, n: number, root: TestUser) {
  const input = await inConversation('pipeline', 'viewer@example.org')(side, n, root);
  const { pipelineId, conversationId, messageId } = input;
  await side.db('ai_messages').where({ id: messageId }).update({ state: 'running', alive_at: new Date() });
  return { pipelineId, conversationId };
}

export const ASSISTANT: Rows = {
  'ai.getProvider': { names: 'scope', input: team },
  'ai.updateProvider': { names: 'scope', input: provider, undo },
  'ai.deleteProvider': { names: 'scope', input: withProvider, undo },
  'ai.testProvider': { names: 'scope', input: withProvider, undo },
  'ai.usage': { names: 'scope', input: team },
  'ai.getConversation': { names: 'object', input: pipeline },
  'ai.getDebugConversation': { names: 'object', input: pipeline },
  'ai.getVrlConversation': { names: 'object', input: vrl },
  'ai.startNewConversation': { names: 'object', input: pipeline },
  'ai.stop': { names: 'object', input: answering },
  'ai.applySuggestions': chosen('pipeline'),
  'ai.markSuggestionsApplied': chosen('pipeline'),
  'ai.markVrlSuggestionsApplied': chosen('vrl'),
  'ai.previewContext': { names: 'object', input: (side) => ({ ...pipeline(side), conversation: 'debug' }) },
};
