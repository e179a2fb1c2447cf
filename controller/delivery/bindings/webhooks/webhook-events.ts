/** Filters webhook events, since forges often send all of them: which ones matter here. No I/O. */
import type { IncomingHttpHeaders } from 'node:http';
import type { KnownForge } from '../forge/forge-address.ts';

/**
 * The headers that name the event of a call, and the events that matter: pushes, branches that come and go, pull requests and
 * their reviews, merge queues. Comments do not matter, since Headgate's own are among them.
 * https://docs.github.com/webhooks/webhook-events-and-payloads,
 * https://docs.gitlab.com/user/project/integrations/webhook_events, https://docs.gitea.com/usage/webhooks,
 * https://support.atlassian.com/bitbucket-cloud/docs/event-payloads,
 * https://confluence.atlassian.com/bitbucketserver/event-payload-938025882.html
 */
const EVENTS: Readonly<Record<KnownForge, { headers: readonly string[]; matter: RegExp }>> = {
  github: {
    headers: ['x-github-event'],
    matter: /^(push|create|delete|pull_request(_review)?|merge_group|repository)$/,
  },
  gitlab: { headers: ['x-gitlab-event'], matter: /^(push|tag push|merge request|system) hook$/i },
  gitea: {
    headers: ['x-forgejo-event', 'x-gitea-event'],
    matter: /^(push|create|delete|pull_request(?!_comment|_review_comment)(_.+)?|repository)$/,
  },
  bitbucket: {
    headers: ['x-event-key'],
    matter: /^(repo:(push|updated)|pullrequest:(?!comment).+)$/,
  },
  'bitbucket-data-center': {
    headers: ['x-event-key'],
    matter: /^(repo:(refs_changed|modified)|pr:(?!comment).+)$/,
  },
  // It names the event in the body only, which is not read.
  'azure-devops': { headers: [], matter: /^/ },
};

/** A call without an event name may be anything, and counts as relevant. */
export function isRelevantEvent(forge: KnownForge, headers: IncomingHttpHeaders): boolean {
  const { headers: names, matter } = EVENTS[forge];
  const event = names.map((name) => headers[name]).find((value) => typeof value === 'string' && value !== '');
  return typeof event !== 'string' || matter.test(event);
}
