/**
 * What identity providers send to a SCIM endpoint, in an order that leads somewhere. Each file names the pages of its provider
 * that its steps are taken from; a step that is not on them says so. Each has the status that the provider needs to go on.
 */
import { expect } from 'chai';
import type { HttpResponse } from '../../../clients/http.ts';
import type { Json, ScimClient } from '../client.ts';

export interface Step {
  /** What the provider is about. */
  why: string;
  method: string;
  /** `{name}` is the id that was kept under that name. */
  path: string;
  body?: object;
  status: number;
  /** Where it is known from, where the provider's own pages do not have it in this form. Told where the step fails. */
  knownFrom?: string;
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

/** The rest of a request that changes some of a resource. */
export const patch = (...Operations: object[]) => ({ method: 'PATCH', body: { schemas: PATCH, Operations } });
export const query = (filter: string, more = '') => `?filter=${encodeURIComponent(filter)}${more}`;
export const nobody = (body: Json) => expect(body).to.deep.include({ totalResults: 0, Resources: [] });
export const oneOf = (name: string) => (body: Json, ids: Readonly<Record<string, string>>) => {
  expect(body.totalResults).to.equal(1);
  expect(body.Resources[0].id).to.equal(ids[name]);
};
export const has = (fields: object) => (body: Json) => expect(body).to.deep.include(fields);
/** Of a group: these members and no others. */
export const membersAre =
  (...names: string[]) =>
  (body: Json, ids: Readonly<Record<string, string>>) =>
    expect(body.members.map(({ value }: Json) => value)).to.have.members(names.map((name) => ids[name]));

/** Sends the steps one after the other; answers the ids that were kept. */
export async function play(scim: ScimClient, run: ProviderRun): Promise<Record<string, string>> {
  const ids: Record<string, string> = {};
  const filled = (text: string) =>
    text.replace(/(?:\{|%7B)(\w+)(?:\}|%7D)/g, (_, name: string) => ids[name] ?? `no ${name}`);
  for (const step of run.steps) {
    const body = step.body === undefined ? undefined : filled(JSON.stringify(step.body));
    const answer: HttpResponse = await scim.call(step.method, filled(step.path), body, {
      headers: run.headers,
    });
    const source = step.knownFrom === undefined ? '' : ` (known from ${step.knownFrom})`;
    expect(answer.status, `${run.provider}: ${step.why}${source}: ${answer.text.slice(0, 400)}`).to.equal(
      step.status,
    );
    const told: Json = answer.text === '' ? null : answer.json();
    if (step.keep) ids[step.keep] = told.id;
    step.expect?.(told, ids);
  }
  return ids;
}
