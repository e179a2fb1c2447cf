/** GET /api/events: server-sent events that tell the UI what to look at again. By session cookie, never by a token in the URL. */
import type Router from '@koa/router';
import type { Knex } from 'knex';
import { visibleEnvironments } from '../../controller/fleet/environments/index.ts';
import { actorOfSession } from '../../controller/identity/access/index.ts';
import type { Actor } from '../../controller/platform/operation/context.ts';
import { DomainError, unauthorized } from '../../controller/platform/operation/errors.ts';
import { assertNoRequiredAction } from '../../controller/platform/operation/permissions.ts';
import { UI_TOPICS, type UiEvent, type UiTopic } from '../../schemas/api/ui-events.ts';
import type { RequestHandler } from '../handler.ts';
import { openEventStream } from '../http/sse.ts';

const STREAMS_PER_USER = 20;
/** Signals of this long are sent as one. */
const GATHER_MS = 150;
const CHECK_SESSION_MS = 30_000;

export interface UiEvents {
  routes(router: Router): void;
  stop(): void;
}

export function createUiEvents(handler: RequestHandler): UiEvents {
  const streams = new Map<symbol, { userId: string; close(): void }>();

  function open(userId: string): number {
    return [...streams.values()].filter((stream) => stream.userId === userId).length;
  }

  return {
    routes(router) {
      router.get('/api/events', async (ctx) => {
        const token = handler.cookie.read(ctx);
        const actor = await handler.actor(ctx);
        if (!token || actor.type !== 'user') throw unauthorized();
        assertNoRequiredAction(actor);
        if (open(actor.userId) >= STREAMS_PER_USER) {
          throw new DomainError('TOO_MANY_REQUESTS', `More than ${STREAMS_PER_USER} open pages; close some`, {
            retryAfterSeconds: 5,
          });
        }
        let visible = await visibleTo(handler.db, actor);
        const stream = openEventStream(ctx);
        const waiting = new Map<string, Set<UiTopic>>();
        let timer: NodeJS.Timeout | undefined;

        const send = () => {
          timer = undefined;
          for (const [environmentId, topics] of waiting) {
            const event: UiEvent = { environmentId, topics: [...topics] };
            stream.send('changed', JSON.stringify(event));
          }
          waiting.clear();
        };
        const note = (environmentId: string, topics: readonly UiTopic[]) => {
          const known = waiting.get(environmentId) ?? new Set();
          for (const topic of topics) known.add(topic);
          waiting.set(environmentId, known);
          timer ??= setTimeout(send, GATHER_MS);
        };
        const recheck = async () => {
          const current = await actorOfSession(handler.essential, token).catch(() => undefined);
          if (current === null || current?.requiredAction) stream.close();
          else if (current) visible = await visibleTo(handler.db, current).catch(() => visible);
        };
        const off = [
          handler.services.bus.on('ui', async (signal) => {
            if (signal.environmentId === null) {
              await recheck();
              note('*', signal.topics);
            } else if (visible.has(signal.environmentId)) note(signal.environmentId, signal.topics);
          }),
          handler.services.bus.on('user', (signal) => {
            if (signal.userId === actor.userId) void recheck();
          }),
          handler.services.bus.on('resync', () => note('*', UI_TOPICS)),
        ];
        const check = setInterval(() => {
          stream.comment('keep-alive');
          void recheck();
        }, CHECK_SESSION_MS);
        const id = Symbol('stream');
        streams.set(id, { userId: actor.userId, close: stream.close });
        stream.onClose(() => {
          streams.delete(id);
          clearInterval(check);
          clearTimeout(timer);
          for (const remove of off) remove();
        });
      });
    },
    stop() {
      for (const stream of streams.values()) stream.close();
    },
  };
}

async function visibleTo(db: Knex, actor: Extract<Actor, { type: 'user' }>): Promise<ReadonlySet<string>> {
  return new Set(await visibleEnvironments(db, actor.isSuperAdmin ? null : [...actor.roles.keys()]));
}
