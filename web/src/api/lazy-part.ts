/** Parts of the UI whose code is loaded when they are first shown. */
import { type ComponentType, type LazyExoticComponent, lazy } from 'react';
import { askHealth } from './reachability.ts';

/** The controller answers and does not have this code: a newer version of it has replaced the one that this page is of. */
export class CodeIsGone extends Error {
  constructor(cause: unknown) {
    super('Headgate was updated since this page was loaded.', { cause });
  }
}

type PropsOf<Part> = Part extends ComponentType<infer Props> ? Props : never;

/**
 * The component `name` of a module. While the controller is away the part stays as it is before it is loaded, and comes by
 * itself: React would keep a failure for as long as the page lives.
 */
export const lazyPart = <Module, Name extends keyof Module>(
  load: () => Promise<Module>,
  name: Name,
): LazyExoticComponent<ComponentType<PropsOf<Module[Name]>>> =>
  lazy(async () => ({
    default: (await loadCode(load))[name] as ComponentType<PropsOf<Module[Name]>>,
  }));

/** @throws CodeIsGone */
export async function loadCode<Module>(load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch {
    await askHealth();
  }
  try {
    return await load();
  } catch (error) {
    throw new CodeIsGone(error);
  }
}
