/** Conversations with the assistant, and the changes that it proposes. */
import Type, { type Static } from 'typebox';
import { Id, Input, Nullable, Text, Timestamp } from '../common.ts';
import { BecameGit } from '../delivery/git-words.ts';
import { AiProviderKind } from './assistant.ts';
import { MAX_EVENT_BYTES } from './engine.ts';
import { ComponentKey, ComponentKind, SavedGraph } from './graph.ts';

export const CONVERSATION_KINDS = ['pipeline', 'debug', 'vrl'] as const;
export const ConversationKind = Type.Enum([...CONVERSATION_KINDS]);
export type ConversationKind = Static<typeof ConversationKind>;

/** A component, or one of its named outputs as `key.output`. */
const OutputRef = Type.String({ minLength: 1, maxLength: 260 });
const Config = Type.Record(Type.String({ maxLength: 200 }), Type.Unknown());
const Program = Type.String({ minLength: 1, maxLength: 65_536 });

export const SuggestedChange = Type.Union([
  Input({
    type: Type.Literal('addComponent'),
    componentKey: ComponentKey,
    kind: ComponentKind,
    componentType: Type.String({ minLength: 1, maxLength: 100 }),
    config: Config,
    /** Of a transform or a sink. */
    inputs: Type.Optional(Type.Array(OutputRef, { maxItems: 50 })),
  }),
  Input({ type: Type.Literal('removeComponent'), componentKey: ComponentKey }),
  /** Merged into the config; null removes an option (RFC 7396). */
  Input({ type: Type.Literal('setConfig'), componentKey: ComponentKey, config: Config }),
  Input({
    type: Type.Literal('setVrl'),
    componentKey: ComponentKey,
    program: Program,
    /** The output of a route whose condition it is. */
    output: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
  }),
  Input({ type: Type.Literal('connect'), from: OutputRef, to: ComponentKey }),
  Input({ type: Type.Literal('disconnect'), from: OutputRef, to: ComponentKey }),
  Input({ type: Type.Literal('renameComponent'), componentKey: ComponentKey, newKey: ComponentKey }),
  Input({ type: Type.Literal('setDisabled'), componentKey: ComponentKey, disabled: Type.Boolean() }),
]);
export type SuggestedChange = Static<typeof SuggestedChange>;

/** What a model proposes at once: all of its changes are applied, or none. */
export const Proposal = Input({
  title: Type.String({ minLength: 1, maxLength: 200 }),
  reason: Type.Optional(Text(2_000)),
  changes: Type.Array(SuggestedChange, { minItems: 1, maxItems: 20 }),
});
export type Proposal = Static<typeof Proposal>;

/** A program as it ran on one event. */
export const ProgramTrial = Type.Object({
  /** JSON; null where there is no event. */
  event: Nullable(Type.String()),
  /** The last sample of what feeds the component, or the event of the question. */
  eventFrom: Type.Enum(['sample', 'given', 'none']),
  success: Type.Boolean(),
  output: Nullable(Type.String()),
  dropped: Type.Boolean(),
  error: Nullable(Type.String()),
  /** With line and column. */
  diagnostics: Type.Array(Type.String()),
});
export type ProgramTrial = Static<typeof ProgramTrial>;

export const Suggestion = Type.Object({
  id: Id,
  /** Of the model. */
  title: Type.String(),
  reason: Type.String(),
  changes: Type.Array(SuggestedChange),
  /** A sentence for each change, by Headgate. */
  summary: Type.Array(Type.String()),
  /** By the checks of a deploy, on the graph as it was then. */
  verdict: Type.Enum(['valid', 'invalid']),
  problems: Type.Array(Type.String()),
  warnings: Type.Array(Type.String()),
  /** Of the engine config, with credentials masked. */
  diff: Type.String(),
  /** Null where no program changes. */
  trial: Nullable(ProgramTrial),
  graphRevision: Type.Integer(),
  appliedAt: Nullable(Timestamp),
  /** What it became when it was applied, where git describes the pipeline; null for what was saved at once. */
  became: Nullable(BecameGit),
});
export type Suggestion = Static<typeof Suggestion>;

export const ConversationMessage = Type.Object({
  id: Id,
  author: Type.Enum(['user', 'assistant']),
  state: Type.Enum(['running', 'done', 'stopped', 'failed']),
  content: Type.String(),
  /** Why it failed, or what was left out. */
  note: Nullable(Type.String()),
  suggestions: Type.Array(Suggestion),
  inputTokens: Type.Integer(),
  outputTokens: Type.Integer(),
  createdAt: Timestamp,
});
export type ConversationMessage = Static<typeof ConversationMessage>;

export const Conversation = Type.Object({
  id: Id,
  kind: ConversationKind,
  pipelineId: Id,
  componentKey: Nullable(Type.String()),
  createdAt: Timestamp,
  /** The oldest first: the newest 200. */
  messages: Type.Array(ConversationMessage),
});
export type Conversation = Static<typeof Conversation>;
/** Null before the first question. */
export const ConversationState = Type.Object({ conversation: Nullable(Conversation) });

export const OfVrlConversation = Input({ pipelineId: Id, componentKey: ComponentKey });
export const StartConversation = Input({
  pipelineId: Id,
  /** `pipeline` unless given. */
  conversation: Type.Optional(ConversationKind),
  componentKey: Type.Optional(ComponentKey),
});

export const ChosenSuggestions = Input({
  pipelineId: Id,
  conversationId: Id,
  messageId: Id,
  suggestionIds: Type.Array(Id, { minItems: 1, maxItems: 50, uniqueItems: true }),
});
export type ChosenSuggestions = Static<typeof ChosenSuggestions>;

/** As saved by hand; an answer of git has `proposed` or `committed`. */
export const AppliedSuggestions = Type.Object({ applied: SavedGraph });

/** Characters, and bytes by a check. */
export const MAX_QUESTION_BYTES = 8_192;
const Question = {
  conversation: ConversationKind,
  pipelineId: Id,
  /** Of a conversation about VRL. */
  componentKey: Type.Optional(ComponentKey),
  /** One event as a JSON object, on which programs are run. */
  event: Type.Optional(Text(MAX_EVENT_BYTES)),
};
export const Ask = Input({
  ...Question,
  message: Type.String({ minLength: 1, maxLength: MAX_QUESTION_BYTES }),
  /** Forgets the conversation before. */
  startNew: Type.Optional(Type.Boolean()),
});
export type Ask = Static<typeof Ask>;

export const Asked = Type.Object({ conversationId: Id, userMessageId: Id, messageId: Id });
export type Asked = Static<typeof Asked>;

export const StopAnswer = Input({ pipelineId: Id, conversationId: Id });
export const Stopping = Type.Object({ stopping: Type.Boolean() });

export const PreviewContext = Input({ ...Question, message: Type.Optional(Text(MAX_QUESTION_BYTES)) });
export const ContextPreview = Type.Object({
  /** Everything that a question would send, word for word. */
  text: Type.String(),
  bytes: Type.Integer(),
  estimatedTokens: Type.Integer(),
  /** Where it would go; null where the team has no provider. */
  provider: Nullable(Type.Object({ kind: AiProviderKind, model: Type.String(), host: Type.String() })),
});
