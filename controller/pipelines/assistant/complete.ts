/** The assistant of a team for other domains: one question, one answer. */
import type { Context } from '../../platform/operation/context.ts';
import { unavailable } from '../../platform/operation/errors.ts';
import { askModel } from './ask-model.ts';
import { findProvider } from './provider/store.ts';

export interface CompletionRequest {
  /** What it is for, such as `migration`: usage is counted by it. At most 40 characters. */
  purpose: string;
  system: string;
  prompt: string;
  maxTokens: number;
  signal: AbortSignal;
}

export interface Assistant {
  model: string;
  /**
   * Counts against the limits of the actor and the budget of the team. Asks a provider, so it must not run in a transaction.
   *
   * @throws TOO_MANY_REQUESTS where a limit is reached; UNAVAILABLE where the provider fails
   */
  complete(request: CompletionRequest): Promise<string>;
}

/** A short pause, then again: the caller may ask for many. */
const RETRIES = 2;

/** Null where the team has no provider. */
export async function findAssistant(ctx: Context, teamId: string): Promise<Assistant | null> {
  const provider = await findProvider(ctx.db, teamId);
  if (!provider) return null;
  return {
    model: provider.model,
    async complete({ purpose, system, prompt, maxTokens, signal }) {
      let text = '';
      const question = {
        ...{ purpose: purpose.slice(0, 40), system, maxTokens, signal, tools: [], retries: RETRIES },
        messages: [{ author: 'user' as const, text: prompt }],
      };
      for await (const event of askModel(ctx, provider, question)) {
        if (event.type === 'text') text += event.text;
        else if (event.type === 'cut')
          throw unavailable(
            event.reason === 'length'
              ? `The answer of the AI provider is longer than the ${maxTokens} tokens that it may have; ask for less at a time`
              : 'The AI provider withholds its answer',
          );
      }
      if (text.trim() === '') throw unavailable('The AI provider answers with nothing; try again');
      return text;
    },
  };
}
