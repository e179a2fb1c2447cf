/** A server-sent event stream on a Koa response. Closed when the client stops reading: nothing piles up. */
import type { Context as KoaContext } from 'koa';
import type { PushStream } from '../../controller/fleet/index.ts';

export interface EventStream extends PushStream {
  /** Bytes that wait to be sent. */
  backlog(): number;
  /** Calls the listener once: when the stream closes, or now where it has closed already. */
  onClose(listener: () => void): void;
}

const MAX_BACKLOG_BYTES = 1024 * 1024;

export function openEventStream(ctx: KoaContext): EventStream {
  ctx.respond = false;
  const { req, res } = ctx;
  req.socket.setNoDelay(true);
  req.socket.setKeepAlive(true, 30_000);
  res.writeHead(200, {
    'Content-Type': 'text/event-stream; charset=utf-8',
    'Cache-Control': 'no-store, no-transform',
    'X-Accel-Buffering': 'no',
    Connection: 'keep-alive',
  });
  const listeners: (() => void)[] = [];
  let open = true;
  const close = () => {
    if (!open) return;
    open = false;
    res.end();
    for (const listener of listeners) listener();
  };
  const write = (text: string) => {
    if (!open) return;
    if (res.writableLength > MAX_BACKLOG_BYTES) close();
    else res.write(text);
  };
  res.on('close', close);
  res.on('error', close);
  // A client that left before that is not reported any more.
  if (res.destroyed) close();
  write(': connected\n\n');
  return {
    send: (event, data) => write(`event: ${event}\ndata: ${data}\n\n`),
    comment: (text) => write(`: ${text}\n\n`),
    backlog: () => res.writableLength,
    close,
    onClose: (listener) => {
      if (open) listeners.push(listener);
      else listener();
    },
  };
}
