import { refusal } from './refusals.ts';
import { refined, text } from './shape.ts';

export interface Address {
  host: string;
  port: number;
}

/** `ip:port` or `[ip6]:port`; host names are refused, as by Vector. */
export const address = refined(text, (value, { name, path }): Address => {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|(\d{1,3}(?:\.\d{1,3}){3})):(\d{1,5})$/.exec(value);
  const port = Number(match?.[3]);
  if (!match || port > 65_535) throw refusal('invalid socket address syntax', `${path}.${name}`);
  return { host: match[1] ?? match[2]!, port };
});

export function addressText({ host, port }: Address): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
