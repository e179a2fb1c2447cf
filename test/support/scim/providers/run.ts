/**
 * What identity providers send, in the order and with the quirks that their public documentation and the reports of those
 * who serve them tell of. Each step has the status that the provider needs to go on, and looks at what it reads of the answer.
 */
import { expect } from 'chai';
import type { Answer } from '../../http.ts';
import type { Json, ScimClient } from '../client.ts';

export interface Step {
  /** What the provider is about. */
  why: string;
  method: string;
  /** `{name}` is the id that was kept under that name. */
  path: string;
  body?: object;
  status: number;
  /** Keeps the id of the answer under this name. */
  keep?: string;
  /** What of the answer has to be so. */
  expect?(body: Json, ids: Readonly<Record<string, string>>): void;
}

export interface ProviderRun {
  provider: string;
  headers: Record<string, string>;
  steps: readonly Step[];
}

export const PATCH = ['urn:ietf:params:scim:api:messages:2.0:PatchOp'];
export const USER = 'urn:ietf:params:scim:schemas:core:2.0:User';
export const GROUP = 'urn:ietf:params:scim:schemas:core:2.0:Group';
export const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';

export const query = (filter: string, more = '') => `?filter=${encodeURIComponent(filter)}${more}`;
export const nobody = (body: Json) => expect(body).to.include({ totalResults: 0 });
export const oneOf = (name: string) => (body: Json, ids: Readonly<Record<string, string>>) => {
  expect(body.totalResults).to.equal(1);
  expect(body.Resources[0].id).to.equal(ids[name]);
};
export const has = (fields: object) => (body: Json) => expect(body).to.deep.include(fields);

/** Sends the steps one after the other; answers the ids that were kept. */
export async function play(scim: ScimClient, run: ProviderRun): Promise<Record<string, string>> {
  const ids: Record<string, string> = {};
  const filled = (text: string) => text.replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? `no ${name}`);
  for (const step of run.steps) {
    const body = step.body === undefined ? undefined : filled(JSON.stringify(step.body));
    const path = filled(step.path).replace(/%7B(\w+)%7D/g, (_, name: string) => ids[name] ?? `no ${name}`);
    const answer: Answer = await scim.call(step.method, path, body, { headers: run.headers });
    expect(answer.status, `${run.provider}: ${step.why}: ${answer.text.slice(0, 400)}`).to.equal(step.status);
    const told: Json = answer.text === '' ? null : answer.json();
    if (step.keep) ids[step.keep] = told.id;
    step.expect?.(told, ids);
  }
  return ids;
}
