/** The engines of nodes: their component types, and whether their version is supported. */
export { checkTypes, type TypeReport, type UsedType } from './check-types.ts';
export { type ComponentLists, createComponentLists } from './component-lists.ts';
export { type EngineSupport, engineSupport, OLDEST_ENGINE } from './engine-support.ts';
export { type NodeEngine, readNodeEngines } from './node-engines.ts';
export { countComponentTypes } from './store.ts';
