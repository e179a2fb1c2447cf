/** What a message is about, and the sentences that all formats share. */
import type { AlertNotice } from '../notice.ts';

/** Alerts that a message lists; of more it has the number. */
export const MAX_LISTED = 100;

export interface Message {
  /** Of the delivery. */
  id: string;
  kind: 'firing' | 'resolved' | 'test';
  /** At least one, oldest first. At most MAX_LISTED, but for formats that send each alert. */
  notices: readonly AlertNotice[];
  total: number;
  /** How many alerts of the rule are open by now, those of this message included. */
  open: number;
  renderedAt: Date;
  /** Of the UI, without a slash at the end. */
  baseUrl: string;
}

/** A request's body, or an e-mail. The key of an incident service is added when it is sent. */
export type Rendered =
  | {
      type: 'http';
      /** Follows the path of the endpoint's URL. */
      path?: string;
      body: string;
    }
  | { type: 'email'; subject: string; text: string; html: string };

export function firstOf({ notices }: Message): AlertNotice {
  const [first] = notices;
  if (!first) throw new Error('a message is about at least one alert');
  return first;
}

export const linkTo = (baseUrl: string, { environment, eventId }: AlertNotice): string =>
  `${baseUrl}/e/${encodeURIComponent(environment.id)}/alerts?event=${encodeURIComponent(eventId)}`;

const STATES = { firing: 'Firing', resolved: 'Resolved', test: 'Test' } as const;

/** `Firing: Node is down, 40 alerts in production`. One line. */
export function headlineOf(message: Message): string {
  const { ruleName, environment } = firstOf(message);
  const count = message.total > 1 ? `, ${message.total} alerts` : '';
  return oneLine(`${STATES[message.kind]}: ${ruleName}${count} in ${environment.name}`);
}

/** What a list shows of one alert: its sentence, and where it is. */
export function lineOf({ message, node, pipeline }: AlertNotice): string {
  const where = [node && `node ${node.name}`, pipeline && `pipeline ${pipeline.name}`].filter(Boolean);
  return oneLine(where.length > 0 ? `${message} (${where.join(', ')})` : message);
}

/** The lines of the first alerts, and how many there are beside. */
export function linesOf(
  { notices, total }: Message,
  limit: number,
): { lines: string[]; more: string | null } {
  const lines = notices.slice(0, limit).map(lineOf);
  const rest = total - lines.length;
  return { lines, more: rest > 0 ? `and ${rest} more` : null };
}

/** Names and values of the facts that a reader wants first. */
export function factsOf(message: Message): [name: string, value: string][] {
  const { team, environment, metric, value, firedAt, at } = firstOf(message);
  const facts: [string, string][] = [
    ['Team', team.name],
    ['Environment', environment.name],
    ['Metric', metric],
  ];
  if (value !== null && message.total === 1) facts.push(['Value', String(Number(value.toPrecision(3)))]);
  facts.push(['Since', firedAt.toISOString()]);
  if (message.kind === 'resolved') facts.push(['Resolved', at.toISOString()]);
  return facts;
}

/** Without line breaks and other control characters. */
export const oneLine = (text: string): string => text.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim();

/** At most so many characters, with an ellipsis in the place of the rest. */
export const shorten = (text: string, most: number): string =>
  text.length <= most ? text : `${text.slice(0, most - 1).replace(/[\ud800-\udbff]$/, '')}…`;
