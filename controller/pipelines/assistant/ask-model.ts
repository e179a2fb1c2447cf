/**
 * One question to the provider of a team: counted before it is sent, stopped where the provider is silent, and explained
 * where it fails. Everything that is sent to a provider goes through here.
 */
import type { Context } from '../../platform/operation/context.ts';
import { unavailable } from '../../platform/operation/errors.ts';
import { connect, openKey } from './provider/connect.ts';
import type { ModelEvent, ModelRequest } from './provider/model-client.ts';
import { providerError } from './provider/provider-error.ts';
import type { ProviderRecord } from './provider/store.ts';
import { reserve } from './usage/limits.ts';
import { estimateTokens } from './usage/periods.ts';

export interface Question extends ModelRequest {
  purpose: string;
  /** Tries after a failed one. */
  retries: number;
}

/** @throws DomainError, in plain words; the signal's reason where it is aborted */
export async function* askModel(
  ctx: Context,
  provider: ProviderRecord,
  question: Question,
): AsyncGenerator<ModelEvent> {
  const { purpose, retries, ...request } = question;
  const texts = [
    request.system,
    ...request.messages.map(({ text }) => text),
    ...request.tools.map((tool) => JSON.stringify(tool)),
  ];
  const apiKey = openKey(ctx, provider);
  const inputEstimate = estimateTokens(...texts);
  const { maxTokens, finish } = await reserve(ctx, provider, {
    ...{ purpose, inputTokens: inputEstimate, maxTokens: request.maxTokens },
  });
  const used = { inputTokens: 0, outputTokens: 0 };
  let outputBytes = 0;
  let isAsked = false;
  const silence = watchSilence(ctx, provider.timeoutSeconds);
  try {
    const client = await connect(ctx, provider, { apiKey, retries });
    const signal = AbortSignal.any([request.signal, silence.signal]);
    signal.throwIfAborted();
    isAsked = true;
    for await (const event of client.stream({ ...request, maxTokens, signal })) {
      silence.restart();
      if (event.type === 'usage') {
        used.inputTokens = Math.max(used.inputTokens, toCount(event.inputTokens));
        used.outputTokens = Math.max(used.outputTokens, toCount(event.outputTokens));
      } else if (event.type === 'text') outputBytes += Buffer.byteLength(event.text);
      else if (event.type === 'tool') outputBytes += Buffer.byteLength(event.input);
      yield event.type === 'text' ? { ...event, text: storable(event.text) } : event;
    }
    // A client ends its stream in silence where it is aborted.
    signal.throwIfAborted();
  } catch (error) {
    request.signal.throwIfAborted();
    silence.signal.throwIfAborted();
    throw providerError(error, apiKey);
  } finally {
    silence.stop();
    // What a provider does not count, or had no time to, is estimated.
    const isRead = outputBytes > 0 || request.signal.aborted || silence.signal.aborted;
    if (isAsked && used.inputTokens === 0 && isRead) used.inputTokens = inputEstimate;
    if (outputBytes > 0) used.outputTokens = Math.max(used.outputTokens, Math.ceil(outputBytes / 8));
    await finish(used);
  }
}

/** Postgres stores neither NUL nor half a character. */
const storable = (text: string): string => text.replaceAll('\0', '').toWellFormed();

const toCount = (value: unknown): number =>
  typeof value === 'number' && Number.isFinite(value) && value > 0 ? Math.min(Math.ceil(value), 2e9) : 0;

/** Aborts where nothing has come for so long. */
function watchSilence({ clock }: Context, seconds: number) {
  const controller = new AbortController();
  const onSilence = () =>
    controller.abort(
      unavailable(
        `The AI provider has sent nothing for ${seconds} s and was given up; try again, or let an ADMIN raise its timeout`,
      ),
    );
  let cancel = clock.after(seconds * 1_000, onSilence);
  return {
    signal: controller.signal,
    restart() {
      cancel();
      cancel = clock.after(seconds * 1_000, onSilence);
    },
    stop: () => cancel(),
  };
}
