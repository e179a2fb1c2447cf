/** From the database to git: changes of people as commits and proposals, and everything as manifests. */

import type { Knex } from 'knex';
import {
  type Binding,
  findBinding,
  findObject,
  type GitGateway,
  policiesOf,
} from '../../controller/delivery/bindings/index.ts';
import { isProtectedByOthers } from '../../controller/delivery/pull-requests/index.ts';
import { preconditionFailed } from '../../controller/platform/operation/errors.ts';
import { createSourceCache } from '../source/index.ts';
import { commitChange } from './commit/commit-change.ts';
import { inRepository } from './commit/workspace.ts';
import { exportManifests } from './manifest/export.ts';
import { plainObject } from './manifest/plain-object.ts';
import { propose } from './propose/propose.ts';
import { proposeManifest } from './propose/propose-manifest.ts';
import { proposeRollback } from './propose/propose-rollback.ts';

export { type Pushed, pushDatabase } from './commit/push-mode.ts';
export { exportManifests } from './manifest/export.ts';
export { plainObject, plainOfManifest } from './manifest/plain-object.ts';
export { CannotEdit } from './yaml/cannot-edit.ts';
export { type Edit, editDocument } from './yaml/edit-document.ts';

export type WriteBack = Pick<
  GitGateway,
  'editsBecome' | 'manifestOf' | 'writeBack' | 'propose' | 'proposeManifest' | 'proposeRollback' | 'export'
>;

const CACHED = { maxFiles: 5_000, maxScopes: 50 };

export function createWriteBack(): WriteBack {
  const cache = createSourceCache(CACHED);
  return {
    async editsBecome(db, environmentId) {
      const binding = await findBinding(db, environmentId);
      // What is not applied from git would not follow what is written there.
      if (binding?.mode !== 'sync') return 'refuse';
      const { uiEdits } = policiesOf(binding).effective;
      // A team's own policy goes past its own protection, not past that of others who follow the branch.
      return uiEdits === 'commit' && (await isProtectedByOthers(db, binding)) ? 'propose' : uiEdits;
    },
    async manifestOf(db, kind, objectId) {
      const object = await findObject(db, kind, objectId);
      return object && plainObject(object);
    },
    async writeBack(ctx, environmentId, change) {
      return inRepository(ctx, cache, await bound(ctx.db, environmentId), (place) =>
        commitChange(place, change),
      );
    },
    async propose(ctx, environmentId, change) {
      return inRepository(ctx, cache, await bound(ctx.db, environmentId), (place) => propose(place, change));
    },
    async proposeManifest(ctx, environmentId, created) {
      return inRepository(ctx, cache, await bound(ctx.db, environmentId), (place) =>
        proposeManifest(place, created),
      );
    },
    async proposeRollback(ctx, environmentId, rolledBack) {
      return inRepository(ctx, cache, await bound(ctx.db, environmentId), (place) =>
        proposeRollback(place, rolledBack),
      );
    },
    export: (ctx, environmentId, kinds) => exportManifests(ctx, environmentId, kinds),
  };
}

async function bound(db: Knex, environmentId: string): Promise<Binding> {
  const binding = await findBinding(db, environmentId);
  if (binding?.mode !== 'sync')
    throw preconditionFailed('The environment is not bound to git any more; try again');
  return binding;
}
