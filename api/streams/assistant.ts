/**
 * POST /api/ai/chat: a question to the assistant, answered as server-sent events. By session cookie; from our own pages alone,
 * as every change. What is wrong with a question is an error of HTTP; what goes wrong afterwards is the event `error`.
 */
import type Router from '@koa/router';
import {
  type AnswerEvent,
  askOperationOf,
  readQuestion,
  writeAnswer,
} from '../../controller/pipelines/assistant/index.ts';
import { unauthorized, unavailable } from '../../controller/platform/operation/errors.ts';
import { allows, assertNoRequiredAction } from '../../controller/platform/operation/permissions.ts';
import { isRecord } from '../../controller/platform/text/is-record.ts';
import type { Ask } from '../../schemas/api/pipelines/conversations.ts';
import type { RequestHandler } from '../handler.ts';
import { openEventStream } from '../http/sse.ts';
import { readJson } from '../middleware/body.ts';
import { rejectCrossSiteChange } from '../middleware/session.ts';

/** A question and an event, with room for escapes. */
const BODY_BYTES = 256 * 1024;
const KEEP_ALIVE_MS = 15_000;

export interface AssistantStreams {
  routes(router: Router): void;
  /** Stops the answers that are being written. Each is stored before its connection is closed, for which the server waits. */
  stop(): void;
}

export function createAssistantStreams(handler: RequestHandler): AssistantStreams {
  const running = new Set<AbortController>();

  return {
    routes(router) {
      router.post('/api/ai/chat', async (ctx) => {
        const actor = await handler.actor(ctx);
        if (actor.type !== 'user') throw unauthorized();
        assertNoRequiredAction(actor);
        handler.calls.take(actor.userId);
        rejectCrossSiteChange(ctx.req, handler.baseUrl);
        const body = await readJson(ctx.req, BODY_BYTES);
        const context = handler.context(ctx, actor);
        const operation = askOperationOf(isRecord(body) ? body.conversation : null);
        const asked = await handler.execute(operation, context, body);
        const stopping = new AbortController();
        const signal = AbortSignal.any([context.signal, stopping.signal]);
        const question = await readQuestion(context, body as Ask);
        const stream = openEventStream(ctx);
        const offUser = handler.services.bus.on('user', async ({ userId }) => {
          if (userId !== actor.userId) return;
          const now = await handler.actor(ctx).catch(() => actor);
          const isLess = now.type !== 'user' || now.requiredAction !== null;
          if (isLess || !allows(now, question, operation)) stopping.abort(unavailable('the session ended'));
        });
        const keepAlive = setInterval(() => stream.comment('keep-alive'), KEEP_ALIVE_MS);
        stream.onClose(() => stopping.abort(unavailable('the client went away')));
        const emit = ({ event, data }: AnswerEvent) => stream.send(event, JSON.stringify(data));
        running.add(stopping);
        await writeAnswer({ ...context, signal }, asked, question, emit);
        running.delete(stopping);
        clearInterval(keepAlive);
        offUser();
        stream.close();
      });
    },
    stop() {
      for (const controller of running) controller.abort(unavailable('the controller stops'));
    },
  };
}
