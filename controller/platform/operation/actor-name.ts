import type { Actor } from './context.ts';

/** The name of the actor, as users see it. */
export function nameOfActor(actor: Actor): string {
  switch (actor.type) {
    case 'user':
      return actor.name || actor.email;
    case 'service_account':
    case 'system':
      return actor.name;
    case 'scim':
      return 'SCIM';
    case 'git':
      return 'git';
    case 'anonymous':
      return 'nobody';
  }
}
