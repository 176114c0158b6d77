// A failure of a build whose cause lies in the app. Its message is for the app's owner: what is wrong, and what to do about it.
// It becomes the last line of the build's log, in a form that `src/services/builds/cause` recognizes.

export class BuildFailure extends Error {}

/** `name` is that of the buildpack. */
export function failureLine(name: string, { message }: BuildFailure): string {
  return `sekisho/${name}: error: ${message}`
}
