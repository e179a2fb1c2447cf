/** The assistant: AI providers of teams, what they may use, and conversations about pipelines. */
export { askOperationOf, readQuestion } from './answer/ask.ts';
export { type AnswerEvent, writeAnswer } from './answer/write-answer.ts';
export { type Assistant, type CompletionRequest, findAssistant } from './complete.ts';
export * as aiContextOperations from './context/operations.ts';
export * as aiConversationOperations from './conversation/operations.ts';
export { deleteConversationsBefore as deleteAiConversationsBefore } from './conversation/store.ts';
export * as aiProviderOperations from './provider/operations.ts';
export * as aiSuggestionOperations from './suggestions/operations.ts';
export * as aiUsageOperations from './usage/operations.ts';
export { deleteRequestsBefore as deleteAiRequestsBefore } from './usage/store.ts';
