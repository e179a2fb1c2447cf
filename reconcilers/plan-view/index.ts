/** Presents plans: one document for the UI, the API, the command line and pull requests. */
export { planMarkdown } from './plan-markdown.ts';
export { counted, planSummary, planText } from './plan-text.ts';
export { createPlanner, type Planner } from './planner.ts';
