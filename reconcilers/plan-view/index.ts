/** A plan as it is told, once for every place where one is shown. */
export { planMarkdown } from './plan-markdown.ts';
export { counted, planSummary, planText } from './plan-text.ts';
export { createPlanner, type Planner } from './planner.ts';
