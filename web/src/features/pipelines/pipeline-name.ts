const NAME = /^[a-zA-Z0-9][a-zA-Z0-9 _-]*$/;

/** What is wrong with the name of a pipeline; empty when nothing is. */
export const pipelineNameProblem = (name: string): string =>
  NAME.test(name) ? '' : 'Begin with a letter or digit; then letters, digits, spaces, _ and - only.';
