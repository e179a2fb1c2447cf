/**
 * The form of an event between translated components. A record of Fluentd has its tag and time beside it. Here both are in one
 * field, `_fluentd`, and the rest of the event is the record. A field and not metadata of the engine, since tests, samples and
 * taps of pipelines show and carry fields only. Each sink leaves the field out, so that no target receives it. The time is a
 * text (RFC 3339), since a record may have a `timestamp` of its own.
 */
export const EVENT_FIELD = '_fluentd';
export const TAG = '._fluentd.tag';
export const TAG_TEXT = 'string!(._fluentd.tag)';
export const TIME = '._fluentd.time';
/** The time as VRL computes with it. */
export const TIME_VALUE = 'parse_timestamp!(._fluentd.time, format: "%+")';

/** Ends a program that has made `record`: the event becomes the record with its tag and time. */
export const finishEvent = (tagExpression: string, timeExpression: string): string[] => [
  // A tag may need fields of the engine's event, such as the file, which are gone after this.
  `tag = ${tagExpression}`,
  '. = record',
  `._fluentd = {"tag": tag, "time": format_timestamp!(${timeExpression}, format: "%+")}`,
];

/** The name of the node in options of components; the engine fills it in. */
export const HOST_VARIABLE = `\${HOSTNAME}`;
