import { MAX_EVENT_BYTES } from '../../../../schemas/api/pipelines/engine.ts';
import { badRequest } from '../../../platform/operation/errors.ts';
import { isRecord } from '../../../platform/text/is-record.ts';

/** The event of a question. @throws BAD_REQUEST for what is no JSON object */
export function readEvent(event: string | undefined): string | null {
  if (event === undefined || event.trim() === '') return null;
  if (Buffer.byteLength(event) > MAX_EVENT_BYTES)
    throw badRequest(`event: it may have ${MAX_EVENT_BYTES} bytes at most`);
  let value: unknown;
  try {
    value = JSON.parse(event);
  } catch {
    throw badRequest('event: it is not JSON; give one event as a JSON object');
  }
  if (!isRecord(value)) throw badRequest('event: give one event as a JSON object');
  return event;
}
