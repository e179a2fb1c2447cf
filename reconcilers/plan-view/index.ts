/** A plan as it is told, once for every place where one is shown. */
export { planMarkdown } from './markdown.ts';
export { createPlanner, type Planner } from './request.ts';
export { counted, planSummary, planText } from './text.ts';
