import { readHash } from '../../params.ts';
import type { Section } from '../../section/section.ts';
import { awsAuth } from '../credentials.ts';
import type { Draft } from '../draft.ts';
import { ifSet } from './target.ts';

export function requestOf(section: Section): Record<string, unknown> {
  const timeout = section.time('request_timeout');
  const headers = Object.entries(readHash(section.text('custom_headers') ?? '{}'));
  return {
    ...(timeout === undefined ? {} : { timeout_secs: Math.max(1, Math.round(timeout)) }),
    ...(headers.length > 0
      ? { headers: Object.fromEntries(headers.map(([key, value]) => [key, String(value)])) }
      : {}),
  };
}

/** `hosts` is a list of hosts, each with or without scheme, credentials and port. */
export function endpointsOf(section: Section, draft: Draft): string[] {
  const scheme = section.plain('scheme') ?? 'http';
  const port = section.text('port') ?? '9200';
  const path = section.text('path') ?? '';
  const written = section.text('hosts') ?? section.text('host') ?? 'localhost';
  const nested = section.children('endpoint').flatMap((endpoint) => endpoint.text('url') ?? []);
  if (nested.length > 0) return nested;
  return written
    .split(',')
    .map((host) => host.trim())
    .filter((host) => host !== '')
    .map((host) => {
      const hasScheme = /^[a-z]+:\/\//.test(host);
      const url = hasScheme ? host : `${scheme}://${host}`;
      const clean = url.replace(/\/\/[^@/]*@/, () => {
        draft.action(
          'A host has a user and password in its address: give them as user and password.',
          section.lineOf('hosts'),
        );
        return '//';
      });
      const hasPort = /:(?:\d+|\$\{[^}]*\})\/?$/.test(clean.replace(/^[a-z]+:\/\//, ''));
      return `${clean.replace(/\/$/, '')}${hasPort || hasScheme ? '' : `:${port}`}${path}`;
    });
}

export function streamOf(section: Section, draft: Draft): Record<string, unknown> {
  const name = section.text('data_stream_name') ?? 'logs-generic-default';
  const [type = 'logs', dataset = 'generic', ...rest] = name.split('-');
  if (rest.length !== 1)
    draft.difference(
      'The name of a data stream has three parts: type, dataset, namespace.',
      section.lineOf('data_stream_name'),
    );
  return { mode: 'data_stream', data_stream: { type, dataset, namespace: rest.join('_') || 'default' } };
}

export function authOf(section: Section, draft: Draft): Record<string, unknown> {
  const endpoint = section.child('endpoint');
  if (endpoint) {
    const auth = awsAuth(endpoint, draft);
    const region = endpoint.text('region');
    return {
      auth: { ...((auth.auth as object | undefined) ?? {}), strategy: 'aws' },
      aws: { ...ifSet('region', region) },
    };
  }
  const user = section.text('user');
  const password = section.secret('password');
  const apiKey = section.secret('api_key');
  if (apiKey) return { request: { headers: { Authorization: `ApiKey ${apiKey}` } } };
  return user === undefined || password === undefined ? {} : { auth: { strategy: 'basic', user, password } };
}

export function tlsOf(section: Section): Record<string, unknown> {
  const verify = section.bool('ssl_verify', true);
  const tls = {
    ...ifSet('ca_file', section.text('ca_file')),
    ...ifSet('crt_file', section.text('client_cert')),
    ...ifSet('key_file', section.text('client_key')),
    ...ifSet('key_pass', section.secret('client_key_pass')),
    ...(verify ? {} : { verify_certificate: false, verify_hostname: false }),
  };
  return Object.keys(tls).length > 0 ? { tls } : {};
}
