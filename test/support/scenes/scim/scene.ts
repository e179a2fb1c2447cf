/** A controller with SCIM switched on, one user and one group with that user in it. */
import { startTestController, type TestController } from '../../harness/controller.ts';
import { use } from '../../harness/use.ts';
import type { TestUser } from '../../users/person.ts';
import { type ScimClient, scimOf } from './client.ts';

export interface ScimScene {
  test: TestController;
  root: TestUser;
  scim: ScimClient;
  userId: string;
  groupId: string;
}

export async function makeScimScene(): Promise<ScimScene> {
  const test = await startTestController();
  const root = await test.root();
  const scim = await scimOf(root);
  const userId = await scim.user('ada@example.org', {
    externalId: 'Ext-Ada',
    displayName: 'Ada',
    name: { givenName: 'Ada' },
    emails: [{ value: 'ada@work.example', type: 'work' }],
  });
  const groupId = await scim.group('Engineers', [userId], { externalId: 'Ext-Eng' });
  return { test, root, scim, userId, groupId };
}

export const useScimScene = () => use(makeScimScene, (scene) => scene.test.stop());
