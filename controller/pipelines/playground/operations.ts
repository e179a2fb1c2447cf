import { NoInput } from '../../../schemas/api/common.ts';
import {
  ComponentSchema,
  ComponentSchemaInput,
  EngineCatalogue,
  TestVrl,
  VrlTestResult,
} from '../../../schemas/api/pipelines/engine.ts';
import type { Actor } from '../../platform/operation/context.ts';
import { ownScope, query } from '../../platform/operation/operation.ts';
import { checkEvent } from './event.ts';

export const engineOperations = {
  catalogue: query({
    name: 'engine.catalogue',
    summary: 'The components that the engine of the controller has',
    role: 'VIEWER',
    input: NoInput,
    output: EngineCatalogue,
    scope: () => ownScope,
    run: (ctx) => ctx.services.engine.catalogue(),
  }),
  componentSchema: query({
    name: 'engine.componentSchema',
    summary: 'The options of a type of component as JSON Schema, for forms',
    role: 'VIEWER',
    input: ComponentSchemaInput,
    output: ComponentSchema,
    scope: () => ownScope,
    run: (ctx, { kind, type }) => ctx.services.engine.componentSchema(kind, type),
  }),
};

export const vrlOperations = {
  test: query({
    name: 'vrl.test',
    method: 'POST',
    summary: 'Run a VRL program on a test event; nothing is stored',
    role: 'VIEWER',
    input: TestVrl,
    output: VrlTestResult,
    scope: () => ownScope,
    async run(ctx, { source, input, purpose = 'program' }) {
      checkEvent(input);
      return ctx.services.engine.testProgram({ source, purpose }, input, callerOf(ctx.actor));
    },
  }),
};

/** The caller, whose concurrent tests are limited. */
function callerOf(actor: Actor): string {
  return actor.type === 'user' ? actor.userId : actor.type;
}
